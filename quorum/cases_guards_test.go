package quorum_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// rivalry is a leader that renewed last and is then cut off from all masters,
// with a standby that has looked.
func rivalry(t *testing.T, w *world, cutFrom ...*simnet.Master) (term *election.Term, standby <-chan won) {
	t.Helper()
	for _, m := range cutFrom {
		w.Cut("a", m)
	}
	term = lead(t, w.elector("a"))
	standby = campaign(t.Context(), w.elector("b"))
	time.Sleep(lease) // the standby has looked, the leader has renewed
	return term, standby
}

// noOverlap waits for the rival's term, and for the old one's end.
func noOverlap(t *testing.T, term *election.Term, standby <-chan won, most time.Duration) {
	t.Helper()
	began := time.Now()
	next := <-standby
	if next.err != nil {
		t.Fatal(next.err)
	}
	if term.Valid() {
		t.Errorf("token %d leads while token %d is valid for %s", next.term.Token(), term.Token(), term.Remaining())
	}
	if next.term.Token() <= term.Token() {
		t.Errorf("token %d after %d", next.term.Token(), term.Token())
	}
	between(t, "until somebody leads again", next.at.Sub(began), 0, most)
}

// A replica that had not received the lease is promoted while the leader is cut
// off: the next one waits until the first must know. Twice in a row as well, back
// to the first server that was demoted in between.
func TestC09_PromotedReplicaWaits(t *testing.T) {
	for _, times := range []int{1, 2} {
		eachMode(t, func(t *testing.T, w *world) {
			replicas := make([]*simnet.Master, len(w.masters))
			for i := range w.masters {
				replicas[i] = w.AddMaster(fmt.Sprintf("r%d", i+1))
			}
			ended(t, w.open()) // a record of before, which the replicas have
			for i, m := range w.masters {
				replicas[i].CopyFrom(m)
			}
			term, standby := rivalry(t, w)
			w.Isolate("a")
			for i, m := range w.masters {
				w.Redirect("b", m, replicas[i])
			}
			if times == 2 {
				time.Sleep(200 * time.Millisecond)
				for i, m := range w.masters {
					m.CopyFrom(replicas[i])
					w.Redirect("b", m, m)
				}
			}
			noOverlap(t, term, standby, 3*lease)
		})
	}
}

// A holds a bare majority; one of its masters restarts empty; those that it
// missed come back; B campaigns: not before A's deadline.
func TestC10_RestartedEmptyMasterDoesNotVoteTwice(t *testing.T) {
	for _, n := range []int{3, 5} {
		for _, guards := range []election.StoreGuards{election.AllGuards, election.NoGuards} {
			t.Run(fmt.Sprintf("masters=%d,guards=%s", n, guards), func(t *testing.T) {
				inWorld(t, 1, n, func(t *testing.T, w *world) {
					w.opt.GuardsOff = election.AllGuards &^ guards
					bare := w.need()
					term, standby := rivalry(t, w, w.masters[bare:]...)
					w.Isolate("a") // so that it cannot heal what is lost
					w.masters[0].Restart(true)
					if guards == election.AllGuards {
						noOverlap(t, term, standby, 2*lease)
						return
					}
					// Without guards the window is there: this test can fail.
					if next := <-standby; next.err != nil || !term.Valid() {
						t.Errorf("%v; the first term is valid: %t", next.err, term.Valid())
					}
				})
			})
		}
	}
}

// As C10 with a clock that jumps ahead at one of the masters.
func TestC11_ClockJumpGivesNobodyElseTheLease(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		term, standby := rivalry(t, w, w.masters[w.need():]...)
		w.Isolate("a")
		w.masters[0].JumpClock(2 * lease)
		noOverlap(t, term, standby, 3*lease)
	})
}

// All is flushed, or just the lease is gone, while the leader is cut off.
func TestC13_WipeGivesNobodyElseTheLease(t *testing.T) {
	for name, wipe := range map[string]func(m *simnet.Master){
		"flushall": func(m *simnet.Master) { m.FlushAll() },
		"del":      func(m *simnet.Master) { m.Evict(leaseKey) },
		"evicted":  func(m *simnet.Master) { m.Evict(leaseKey); m.Evict(recordKey) },
	} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				term, standby := rivalry(t, w)
				w.Isolate("a")
				w.each(wipe)
				noOverlap(t, term, standby, 2*lease)
			})
		})
	}
}

// The first election ever waits once, says so with the time left, and no later
// one on a healthy store waits for a guard, whichever way leaders go.
func TestR6_OnlyTheFirstElectionWaits(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		var out safeBuffer
		var rec recorder
		began := time.Now()
		e := w.elector("a", rec.on, func(o *election.Options) { o.Logger = logTo(&out) })
		term := lead(t, e)
		between(t, "the first election", time.Since(began), lease, lease+100*time.Millisecond)
		if s := out.String(); strings.Count(s, "waiting for a guard") != 1 || !strings.Contains(s, "no-record") ||
			!strings.Contains(s, "left=") || !strings.Contains(s, "10.0.0.") {
			t.Errorf("it did not say so, or not once:\n%s", s)
		}
		host := "a"
		for i := range 20 {
			name := fmt.Sprintf("h%d", i)
			next := campaign(t.Context(), w.elector(name, rec.on))
			time.Sleep(lease)
			if i%2 == 0 {
				if err := term.Resign(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				w.Isolate(host) // it crashes: nothing is said
			}
			got := <-next
			if got.err != nil {
				t.Fatal(got.err)
			}
			term, host = got.term, name
		}
		for _, ev := range rec.of(election.BidRefused) {
			var g *election.GuardError
			if errors.As(ev.Err, &g) && ev.At.Sub(began) > 2*lease {
				t.Errorf("%s after the first election: %v", ev.At.Sub(began), g)
			}
		}
	})
}
