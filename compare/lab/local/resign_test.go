package local_test

import (
	"flag"
	"testing"
	"time"
)

var handovers = flag.Int("handovers", 15, "how many leaders resign in each mode")

// TestResignToNextTerm measures the time from a resignation to the next term.
func TestResignToNextTerm(t *testing.T) {
	limits := map[string]struct{ p50, most time.Duration }{
		"single":  {2 * time.Millisecond, 15 * time.Millisecond},
		"quorum3": {4 * time.Millisecond, 15 * time.Millisecond},
		"quorum5": {6 * time.Millisecond, 20 * time.Millisecond},
	}
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			l, ctx := open(t, m.options)
			var took, excused dist
			machine := watchMachine(t)
			for range *handovers {
				machine()
				run, err := l.Run(ctx, "resign")
				if err != nil {
					t.Fatal(err)
				}
				d := figures(t, run).Failover
				excused = append(excused, d-machine())
				if took = append(took, d); *trace && d >= took.at(1) {
					t.Logf("slowest so far: %v\n%s", d, timeline(run))
				}
			}
			t.Logf("resign to next term, TTL %v: %v", l.Options().TTL, took)
			allButOne := 1 - 1/float64(len(excused))
			if want := limits[m.name]; excused.at(0.5) > want.p50 || excused.at(allButOne) > want.most {
				t.Errorf("want p50 at most %v and all but one at most %v; less what the machine stalled: %v", want.p50, want.most, excused)
			}
		})
	}
}
