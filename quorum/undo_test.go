package quorum_test

import (
	"testing"
	"time"

	"incumbent/election"
)

// TestR10_ReleaseFollowsTheVote: a vote that is slow on its way is released after it
// has come back, though the release would be quicker and the bid has failed long ago.
func TestR10_ReleaseFollowsTheVote(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards // or the vote would be refused anyway (R7)
		a, b := w.store("a"), w.store("b")
		g := win(t, a, bid("a", time.Minute))
		settle(t, a)
		if _, err := b.Acquire(t.Context(), bid("b", time.Minute)); !heldByOther(err) { // opens its connections
			t.Fatal(err)
		}
		settle(t, b)
		slow := w.masters[2]
		slow.Evict(leaseKey)
		w.Slow("b", slow, 80*time.Millisecond)
		// Before any answer: only the vote is slow, what follows is quick.
		time.AfterFunc(50*time.Microsecond, func() { w.Slow("b", slow, 0) })
		if _, err := b.Acquire(t.Context(), bid("b", time.Minute)); !heldByOther(err) {
			t.Fatal(err)
		}
		settle(t, b)
		if v, ok := slow.Get(leaseKey); ok {
			t.Errorf("the vote that was refused elsewhere stands: %q", v)
		}
		if _, err := a.Renew(t.Context(), g); err != nil {
			t.Error(err)
		}
		settle(t, a)
	})
}
