package local_test

import (
	"os"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/internal/redisproc/redistest"
)

// TestLoad: while nothing happens a leader asks each master for a renewal three times a
// TTL, and a standby about once. On a busy machine it takes more than one try to see that.
func TestLoad(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	p := local.Player{Stderr: os.Stderr, Workers: 2}
	open := []local.Spec{
		{Mode: "single", Masters: 1, Fault: "calm", TTL: time.Second, Candidates: 3},
		{Mode: "quorum", Masters: 3, Fault: "calm", TTL: time.Second, Candidates: 3},
	}
	for range 5 {
		var again []local.Spec
		err := p.Play(t.Context(), open, func(i int, run history.Run, err error) {
			if err != nil {
				t.Errorf("%d masters: %v", open[i].Masters, err)
			}
			if !plausible(run) {
				t.Logf("%d masters: %+v", run.Masters, run.Load)
				again = append(again, open[i])
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if open = again; len(open) == 0 {
			return
		}
	}
	t.Errorf("never as it should be: %+v", open)
}

// plausible reports whether a load is what elections cost.
func plausible(run history.Run) bool {
	l := run.Load
	if l.Span < 5*run.TTL || l.Standbys != 2 {
		return false
	}
	asked := float64(l.Span) / float64(run.TTL) * float64(run.Masters)
	leader, standby := float64(l.Leader)/asked, float64(l.Standby)/2/asked
	return leader > 2.5 && leader < 4.5 && standby > 0.6 && standby < 1.8
}
