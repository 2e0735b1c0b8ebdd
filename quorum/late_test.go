package quorum_test

import (
	"errors"
	"testing"
	"time"

	"incumbent/election"
)

// A master that hangs and wakes up handles what had queued up meanwhile: votes
// of standbys that nobody waits for any more. They must not take the leader's
// place there for a TTL, in which one more fault would end the term (R10).
func TestB14_WhatAHungMasterHandlesLateTakesNothing(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		a, b := w.elector("a"), w.elector("b")
		term := lead(t, a)
		waiting := campaign(t.Context(), b)
		time.Sleep(2 * term.Remaining()) // the standby has looked, and knows the server's time
		value, _ := w.masters[0].Get(leaseKey)
		w.masters[0].Hang()
		time.Sleep(10 * time.Second)
		if w.masters[0].PTTL(leaseKey) > 0 {
			t.Fatal("the lease outlived the hang")
		}
		w.masters[0].Resume()
		time.Sleep(1500 * time.Millisecond) // a renewal, and then what heals
		if got, _ := w.masters[0].Get(leaseKey); got != value {
			t.Errorf("the master's vote is %q, want the leader's %q", got, value)
		}
		w.masters[1].Crash()
		time.Sleep(5 * time.Second)
		if !term.Valid() || term.Loss() != nil {
			t.Errorf("the term ended: %v", term.Loss())
		}
		w.masters[1].Restart(true)
		shut(t, a)
		if r := <-waiting; r.err != nil {
			t.Error(r.err)
		}
	})
}

// The limit must not keep a candidate out for good when the server's clock
// jumps: one bid is refused, and the next is measured by the new time.
func TestLateBidIsAskedAgain(t *testing.T) {
	for _, n := range modes {
		inWorld(t, 1, n, func(t *testing.T, w *world) {
			w.opt.GuardsOff = election.AllGuards
			st := w.open()
			g, err := st.Acquire(t.Context(), bid("a", 3*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.Release(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			for _, m := range w.masters {
				m.JumpClock(time.Hour)
			}
			_, err = st.Acquire(t.Context(), bid("a", 3*time.Second))
			if !errors.Is(err, election.ErrLate) || errors.Is(err, election.ErrNotAcquired) {
				t.Fatalf("got %v, want %v", err, election.ErrLate)
			}
			settle(t, st)
			if _, err = st.Acquire(t.Context(), bid("a", 3*time.Second)); err != nil {
				t.Errorf("asked again: %v", err)
			}
		})
	}
}
