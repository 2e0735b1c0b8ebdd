package quorum_test

import (
	"errors"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
	"incumbent/quorum"
)

// Which masters may hold the leader's lease, and whether most of those have taken the
// request: exactly half is too few, and a master that missed the seal counts, though it
// refuses. Masters are, in this order, lost, unsealed, good and down.
func TestAskCountsTheHolders(t *testing.T) {
	for _, c := range []struct {
		name                        string
		lost, unsealed, good, down  int
		want                        error // nil: the leader was asked
		wantAgreed, wantNeed, wantN int   // of a *quorum.Error, with so many errors of masters
	}{
		{name: "two of three took it", good: 2, down: 1},
		{name: "one of two took it", lost: 1, good: 1, down: 1, want: election.ErrUnreachable, wantAgreed: 1, wantNeed: 2, wantN: 1},
		{name: "three of five took it", good: 3, down: 2},
		{name: "two of four took it", lost: 1, good: 2, down: 2, want: election.ErrUnreachable, wantAgreed: 2, wantNeed: 3, wantN: 2},
		{name: "three took it, two missed the seal", unsealed: 2, good: 3},
		{name: "two took it, two missed the seal, one is down", unsealed: 2, good: 2, down: 1, want: election.ErrUnreachable, wantAgreed: 2, wantNeed: 3, wantN: 1},
		{name: "two took it, one missed the seal, one is down", lost: 1, unsealed: 1, good: 2, down: 1, want: election.ErrUnreachable, wantAgreed: 2, wantNeed: 3, wantN: 1},
		{name: "two took it, one missed the seal", lost: 2, unsealed: 1, good: 2},
		{name: "one took it, one missed the seal", lost: 3, unsealed: 1, good: 1, want: election.ErrNoLeader},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, 1, c.lost+c.unsealed+c.good+c.down, func(t *testing.T, w *world) {
				missing := w.masters[c.lost : c.lost+c.unsealed]
				for _, m := range missing {
					missSeal(m)
				}
				st, asker := w.store("a"), w.store("b")
				g := win(t, st, bid("a", 5*time.Second))
				settle(t, st)
				for _, m := range missing {
					m.Intercept(nil)
				}
				w.deleteLease(c.lost)
				for _, m := range w.masters[len(w.masters)-c.down:] {
					m.Crash()
				}
				l, err := ask(t, asker, election.HandOver{Token: g.Token})
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v, want %v", err, c.want)
				}
				if err == nil && (l.ID != "a" || l.Token != g.Token) {
					t.Errorf("asked is %+v", l)
				}
				var few *quorum.Error
				if errors.As(err, &few) && (few.Agreed != c.wantAgreed || few.Need != c.wantNeed || len(masterErrors(err)) != c.wantN) {
					t.Errorf("%d agreed of %d, with %d errors: %v", few.Agreed, few.Need, len(masterErrors(err)), err)
				}
				settle(t, asker)
			})
		})
	}
}

// missSeal makes a master whose vote has a token of its own, and which never hears of
// the term's.
func missSeal(m *simnet.Master) {
	m.SetClockOffset(-time.Minute)
	m.Intercept(func(_ string, args []string) (string, bool) {
		return "LOADING Redis is loading the dataset in memory", isScript(args, "seal")
	})
}
