package virtual

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/compare/measure"
	"incumbent/election"
)

// blind is a store with a bug: it reports that renewals count and sends none.
type blind struct{ election.Store }

func (blind) Renew(_ context.Context, g election.Grant) (election.Grant, error) { return g, nil }

// TestPlantedBugIsSeen: with a bug in the protocol the history shows two leaders,
// renewals that should not count, and stale acts; without one it does not.
func TestPlantedBugIsSeen(t *testing.T) {
	for _, s := range []Spec{
		{Seed: 1, Mode: "single", Masters: 1, Fault: "crash", TTL: time.Second, Candidates: 3},
		{Seed: 2, Mode: "quorum", Masters: 3, Fault: "crash", TTL: time.Second, Candidates: 3},
	} {
		for _, planted := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				found, f := undisturbed(t, s, planted)
				for _, rule := range []string{measure.BeliefOverlap, measure.RenewalLate} {
					if seen := slices.Contains(found, rule); seen != planted {
						t.Errorf("%s: planted is %v, but %q is seen: %v", s, planted, rule, seen)
					}
				}
				// A fence does not know a term before its first act.
				if stale := f.StaleAcceptedUnfenced > 0; stale != planted || f.StaleAcceptedFenced > 1 {
					t.Errorf("%s: planted is %v, figures %+v", s, planted, f)
				}
			})
		}
	}
}

// undisturbed lets candidates alone for some TTLs and returns the rules that they
// broke.
func undisturbed(t *testing.T, s Spec, planted bool) (rules []string, f measure.Figures) {
	l, err := newLab(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range l.candidates {
		if !planted {
			continue
		}
		store, err := newStore(s, c.name, l.w, l.masters)
		if err != nil {
			t.Fatal(err)
		}
		c.elector, err = election.New(blind{&alias{Store: store, host: c.name, pid: i + 1}}, election.Options{
			ID: c.name, TTL: s.TTL, Logger: slog.New(slog.DiscardHandler), Observer: l.rec.observer(c.name),
			Clock: newClock(l.w, c.name, "elector"), Random: l.w.Source(c.name + "/random").Uint64,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	l.start()
	l.sleep(5 * s.TTL)
	run := s.run()
	run.Events, run.Length = l.rec.finish()
	if err := l.stop(); err != nil && !planted { // a lease that is gone cannot be given back
		t.Error(err)
	}
	for _, v := range measure.Check(run) {
		rules = append(rules, v.Rule)
	}
	return rules, measure.Of(run)
}
