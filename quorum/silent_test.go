package quorum_test

import (
	"errors"
	"testing"
	"time"

	"incumbent/election"
)

// Where votes are split, a bid waits for the master that may never answer. One
// that was silent before must not cost every bid the whole bound; once it
// answers, it gets all the time again.
func TestSilentMasterCostsOneBoundOnly(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards
		const ttl = 4 * time.Second // a call may take a second
		rival, mine := w.open(), w.open()
		w.Cut("h2", w.masters[0]) // the rival's votes are at 2 and 3, and one of these is lost
		if _, err := rival.Acquire(t.Context(), bid("rival", time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.masters[1].Evict(leaseKey)
		try := func() time.Duration {
			begin := time.Now()
			if _, err := mine.Acquire(t.Context(), bid("mine", ttl)); !errors.Is(err, election.ErrContended) {
				t.Fatalf("got %v, want split votes", err)
			}
			settle(t, mine)
			return time.Since(begin)
		}
		if took := try(); took < time.Second {
			t.Errorf("an unknown master got %s", took)
		}
		begin := time.Now()
		if _, err := mine.Acquire(t.Context(), bid("mine", ttl)); !errors.Is(err, election.ErrContended) {
			t.Fatalf("got %v, want split votes", err)
		}
		if took := time.Since(begin); took > 300*time.Millisecond {
			t.Errorf("a master that was silent got %s, want a quarter of a second", took)
		}
		settle(t, mine) // its votes are undone
		w.Heal("h2", w.masters[0])
		var held *election.HeldError
		if _, err := mine.Acquire(t.Context(), bid("mine", ttl)); !errors.As(err, &held) {
			t.Fatalf("got %v, want held by the rival's two", err)
		}
		settle(t, mine)
		w.Slow("h2", w.masters[0], 300*time.Millisecond) // each way: more than a silent one gets
		w.masters[0].Evict(leaseKey)
		if _, err := mine.Acquire(t.Context(), bid("mine", ttl)); err != nil {
			t.Errorf("a master that answers again, if slowly: %v", err)
		}
		settle(t, mine, rival)
	})
}
