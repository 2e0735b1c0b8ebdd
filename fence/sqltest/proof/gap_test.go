package proof_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// TestGapBeforeRaise wakes the old leader while the next one leads and has
// written nothing yet. Then a guard knows of the new term only if election.Run
// has raised it; if not, it takes stale acts (rule R14).
func TestGapBeforeRaise(t *testing.T) {
	w := newWorld(t)
	g := &gap{tallies: map[bool]tally{false: newTally(), true: newTally()}}
	var all []*contest
	for _, mode := range []string{"single", "quorum"} {
		for _, raise := range []bool{false, true} {
			x := w.contest(t, childConfig{Election: fmt.Sprintf("gap-%s-%t", mode, raise), Mode: mode, Raise: raise})
			x.holdFirst = true
			all = append(all, x)
		}
	}
	together(t, all, func(ctx context.Context, x *contest) error { return g.strikes(ctx, t, x) })
	for _, x := range all {
		checkRefusals(t, x.lines)
		w.checkOrder(interrupted, t, x)
	}
	t.Logf("the next leader leads and has written nothing yet, TTL %v\nRun was given no guards:\n%v\nRun was given the guards:\n%v",
		ttl, g.tallies[false], g.tallies[true])
}

// gapPauses is how many pauses each election of the test has.
const gapPauses = 3

type gap struct {
	mu      sync.Mutex
	tallies map[bool]tally // by whether guards are raised
}

func (g *gap) strikes(ctx context.Context, t *testing.T, x *contest) error {
	for n, spoilt := 0, 0; n < gapPauses; {
		p, err := x.strike(ctx, "the next leader's work", hasBegun)
		if err != nil {
			return err
		}
		switch {
		case p.inTheGap():
			n++
			g.check(t, x, p)
		case spoilt > 10:
			return fmt.Errorf("election %s: the next leader wrote too early again and again:\n%v", x.cfg.Election, p)
		default:
			spoilt++
		}
	}
	return nil
}

// inTheGap reports whether the next leader wrote nothing before the old one had
// done with its stale acts. It does write if it loses its own term.
func (p *pause) inTheGap() bool {
	var last, first line
	for _, l := range p.lines {
		switch {
		case l.Kind != act:
		case l.Token == p.oldToken:
			last = l
		case first.Kind == "":
			first = l
		}
	}
	return last.At < first.From
}

func (g *gap) check(t *testing.T, x *contest, p *pause) {
	t.Helper()
	checkAwake(t, p)
	want := accepted
	if x.cfg.Raise {
		want = refused
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, l := range staleActs(p.lines) {
		if l.Token != p.oldToken {
			continue
		}
		g.tallies[x.cfg.Raise][l.Resource].add(l)
		n++
		if l.Guarded && l.Outcome != want || !l.Guarded && l.Outcome != accepted {
			t.Errorf("raised %t: a stale act was %s: %+v", x.cfg.Raise, l.Outcome, l)
		}
	}
	if n != 2*len(resourceNames) {
		t.Errorf("%d stale acts:\n%v", n, p)
	}
}
