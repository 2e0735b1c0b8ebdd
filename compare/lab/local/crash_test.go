package local_test

import (
	"flag"
	"testing"
	"time"
)

var kills = flag.Int("kills", 10, "how many leaders to kill in each mode")

// TestCrashOvershoot kills leaders and measures how long after their lease has
// run out the next one leads. Only its modes run side by side.
func TestCrashOvershoot(t *testing.T) {
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			o := m.options
			o.TTL = time.Second
			l, ctx := open(t, o)
			var over, excused dist
			machine := watchMachine(t)
			for range *kills {
				machine()
				run, err := l.Run(ctx, "crash")
				if err != nil {
					t.Fatal(err)
				}
				d := figures(t, run).Overshoot
				excused = append(excused, d-machine())
				if over = append(over, d); *trace && d >= over.at(1) {
					t.Logf("slowest so far: %v\n%s", d, timeline(run))
				}
			}
			t.Logf("overshoot after SIGKILL, TTL %v: %v", l.Options().TTL, over)
			if excused.at(0.9) > 20*time.Millisecond || excused.at(1) > 50*time.Millisecond {
				t.Errorf("want p90 at most 20ms and all at most 50ms; less what the machine stalled: %v", excused)
			}
		})
	}
}
