package both_test

import (
	"fmt"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// What replaces one master of a quorum, a, b, c by a, b, d, and what must not.

// twoLead reports whether next wins a term while the leader's is valid, which has no
// way to master b any more.
func twoLead(t *testing.T, w *world, leader, next election.Elector, host string) bool {
	t.Helper()
	term := campaign(t, leader)
	time.Sleep(w.ttl / 10)
	w.Cut(host, w.masters[1])
	won := make(chan *election.Term, 1)
	go func() {
		if rival, err := next.Campaign(t.Context()); err == nil {
			won <- rival
		}
	}()
	select {
	case <-won:
		return term.Valid()
	case <-time.After(10 * w.ttl):
		return false
	}
}

// TestRollingListChangeIsUnsafe: a, c is a majority of the old list, and b, d one of
// the new: they have no master in common. One link that is cut is enough.
func TestRollingListChangeIsUnsafe(t *testing.T) {
	inWorld(t, 1, replacing, func(t *testing.T, w *world) {
		if !twoLead(t, w, w.elector("old", w.one("old")), w.elector("new", w.two("new")), "old") {
			t.Error("candidates of two lists do not lead at once: the test does not see it")
		}
		w.Heal("old", w.masters[1])
	})
}

// TestRollingListChangeByWayOfBoth: beside a candidate of both lists there is always
// a quorum that both need.
func TestRollingListChangeByWayOfBoth(t *testing.T) {
	for name, kinds := range map[string]func(w *world) (leader, next election.Store){
		"old, then both": func(w *world) (_, _ election.Store) { return w.one("leader"), w.both("next") },
		"both, then old": func(w *world) (_, _ election.Store) { return w.both("leader"), w.one("next") },
		"both, then new": func(w *world) (_, _ election.Store) { return w.both("leader"), w.two("next") },
		"new, then both": func(w *world) (_, _ election.Store) { return w.two("leader"), w.both("next") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, replacing, func(t *testing.T, w *world) {
				leader, next := kinds(w)
				if twoLead(t, w, w.elector("leader", leader), w.elector("next", next), "leader") {
					t.Error("two lead at once")
				}
				w.Heal("leader", w.masters[1])
			})
		})
	}
}

// TestServerReplacedBehindItsName while the old one still serves some candidates is
// the same as two lists; when it has stopped first, nobody can have its vote.
func TestServerReplacedBehindItsName(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		inWorld(t, 1, replacing, func(t *testing.T, w *world) {
			old, fresh := w.masters[2], w.masters[3]
			leader := w.elector("leader", w.one("leader"))
			if stopped {
				term := campaign(t, leader)
				if err := term.Resign(t.Context()); err != nil {
					t.Fatal(err)
				}
				old.Crash()
				w.Redirect("leader", old, fresh)
			}
			w.Redirect("next", old, fresh)
			w.opt.AssumeNew = false
			next := w.elector("next", w.one("next"))
			if two := twoLead(t, w, leader, next, "leader"); two == stopped {
				t.Errorf("old server stopped first: %v; two lead at once: %v", stopped, two)
			}
			w.Heal("leader", w.masters[1])
		})
	}
}

// TestServerReplacedUnderLoad: the old one is stopped, an empty one answers to its
// name, and faults go on meanwhile.
func TestServerReplacedUnderLoad(t *testing.T) {
	for seed := range uint64(15 / fewer) {
		t.Run(fmt.Sprintf("seed=%d", seed+1), func(t *testing.T) {
			t.Parallel()
			inWorld(t, seed+1, replacing, func(t *testing.T, w *world) {
				w.ttl, w.opt.AssumeNew = 2*time.Second, false
				m := &mover{rig: newRig(w)}
				var moved bool
				old, fresh := w.masters[2], w.masters[3]
				k := kind{name: "one", store: func(host string) election.Store {
					if moved {
						w.Redirect(host, old, fresh)
					}
					return w.one(host)
				}}
				m.fill(4, k)
				m.phase(k)
				m.masters = []*simnet.Master{w.masters[0], w.masters[1], fresh} // faults leave the old one alone
				old.Crash()
				moved = true
				for _, p := range m.all {
					w.Redirect(p.name, old, fresh)
				}
				m.phase(k)
				_, wrong := m.history()
				m.end()
				for _, text := range wrong {
					t.Error(text)
				}
			})
		})
	}
}
