package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

const lease = 3 * time.Second // of the bids in these tests

// each does something to all masters.
func (w *world) each(f func(m *simnet.Master)) {
	for _, m := range w.masters {
		f(m)
	}
}

// restart restarts all masters, and waits until clients know that their
// connections are gone.
func (w *world) restart(wipe bool) {
	w.each(func(m *simnet.Master) { m.Restart(wipe) })
	time.Sleep(10 * time.Millisecond)
}

// guarded makes a bid that must be refused by exactly these guards, and returns
// for how long.
func guarded(t *testing.T, st election.Store, b election.Bid, want election.StoreGuards) time.Duration {
	t.Helper()
	_, err := st.Acquire(t.Context(), b)
	settle(t, st)
	var g *election.GuardError
	if !errors.As(err, &g) || g.Guards != want {
		t.Fatalf("bid of %s: %v, want guards %s", b.Candidate.ID, err, want)
	}
	if !errors.Is(err, election.ErrGuarded) || !errors.Is(err, election.ErrNotAcquired) || len(g.Masters) == 0 ||
		!strings.Contains(err.Error(), g.Masters[0]) || !strings.Contains(err.Error(), want.String()) {
		t.Errorf("the refusal does not tell: %v", err)
	}
	return g.Left
}

// between fails unless d is within the bounds.
func between(t *testing.T, what string, d, least, most time.Duration) {
	t.Helper()
	if d < least || d > most {
		t.Errorf("%s: %s, want %s to %s", what, d, least, most)
	}
}

// ended leads for a moment, so that a record exists, and gives the lease back.
func ended(t *testing.T, st election.Store) election.Grant {
	t.Helper()
	g := win(t, st, bid("first", lease))
	settle(t, st)
	if _, err := st.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	settle(t, st)
	return g
}

// A server that has just started grants nothing for a TTL and a second, whatever
// its data say.
func TestR3_RestartedServerWaits(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards &^ election.RestartGuard
		st := w.open()
		ended(t, st)
		w.restart(false)
		left := guarded(t, st, bid("a", lease), election.RestartGuard)
		between(t, "the wait", left, lease, lease+time.Second)
		time.Sleep(left - time.Second)
		guarded(t, st, bid("a", lease), election.RestartGuard)
		time.Sleep(2 * time.Second)
		win(t, st, bid("a", lease))
	})
}

// A longer lease than one's own may be out there (R2).
func TestR2_GuardsLastAsLongAsAnyLease(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		b := bid("a", lease)
		b.MaxTTL = 10 * time.Second
		win(t, st, b)
		settle(t, st)
		w.each(func(m *simnet.Master) { m.FlushAll() })
		b = bid("b", lease)
		b.MaxTTL = 10 * time.Second
		left := guarded(t, st, b, election.NoRecordGuard|election.FailoverGuard)
		between(t, "by MaxTTL", left, 9*time.Second, 10*time.Second)
	})
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards &^ election.FailoverGuard
		st := w.open()
		win(t, st, bid("long", time.Minute))
		settle(t, st)
		w.deleteLease(len(w.masters))
		w.restart(false)
		left := guarded(t, st, bid("short", lease), election.FailoverGuard)
		between(t, "by the record's ttl", left, 59*time.Second, time.Minute)
	})
}

// renamed makes every server answer with another run_id, as after a promotion.
func (w *world) renamed(id func(m *simnet.Master) string) {
	w.each(func(m *simnet.Master) {
		before := m.RunID()
		m.RewriteInfo(func(info string) string { return strings.ReplaceAll(info, before, id(m)) })
	})
}

// Another server than the one that granted last waits a TTL from first sight,
// and no longer: seeing it again extends nothing, nor does a refusal (R4).
func TestR4_AnotherServerWaitsFromFirstSight(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st, standby := w.open(), w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		w.renamed(func(m *simnet.Master) string { return "beef" + m.Name() })
		// The standby's refused bid is the first sight.
		if _, err := standby.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
			t.Fatal(err)
		}
		settle(t, standby)
		time.Sleep(time.Second)
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		left := guarded(t, standby, bid("b", lease), election.FailoverGuard)
		between(t, "the rest of the wait", left, 1900*time.Millisecond, 2*time.Second)
		time.Sleep(left - 100*time.Millisecond)
		left = guarded(t, standby, bid("b", lease), election.FailoverGuard)
		time.Sleep(left + time.Millisecond)
		g = win(t, standby, bid("b", lease))
		settle(t, standby)
		if _, err := standby.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, standby)
		win(t, standby, bid("b", lease)) // the record is this server's now
	})
}

// A proxy that shows another server each time must not block elections for ever:
// after three armings the failover guard stands down, says so once, and no other
// guard does.
func TestR4_StandsDownBeforeARestlessProxy(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var out safeBuffer
		w.opt.Logger = logTo(&out)
		st := w.open()
		ended(t, st)
		n := 0
		w.renamed(func(*simnet.Master) string { n++; return fmt.Sprintf("beef%d", n) })
		for range 3 {
			guarded(t, st, bid("a", lease), election.FailoverGuard)
			time.Sleep(lease / 2)
		}
		g := win(t, st, bid("a", lease))
		settle(t, st)
		if got := strings.Count(out.String(), "another run_id each time"); got != len(w.masters) {
			t.Errorf("said %d times, want once a master:\n%s", got, out.String())
		}
		// R7 and R3 hold on.
		w.deleteLease(len(w.masters))
		for range 3 {
			_ = guardsOf(t, st, bid("b", lease))
		}
		if got := guardsOf(t, st, bid("b", lease)); got != election.ExpiryGuard {
			t.Errorf("lease %d deleted: guards %s", g.Token, got)
		}
		w.restart(false)
		if got := guardsOf(t, st, bid("b", lease)); !got.Has(election.RestartGuard) {
			t.Errorf("restarted: guards %s", got)
		}
	})
}

// A leader that outlives failovers that had its lease uses up no armings: the next
// one, which misses it, is guarded against.
func TestR4_FailoversThatALeaderOutlivesDoNotCount(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st, standby := w.open(), w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		for i := range 6 {
			w.renamed(func(m *simnet.Master) string { return fmt.Sprintf("beef%d%s", i, m.Name()) })
			for range 6 { // a look about once a TTL
				if _, err := st.Renew(t.Context(), g); err != nil {
					t.Fatal(err)
				}
				settle(t, st)
				if _, err := standby.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
					t.Fatal(err)
				}
				settle(t, standby)
				time.Sleep(lease / 3)
			}
		}
		w.renamed(func(m *simnet.Master) string { return "cafe" + m.Name() })
		w.deleteLease(len(w.masters))
		if got := guardsOf(t, standby, bid("b", lease)); !got.Has(election.FailoverGuard) {
			t.Errorf("after six failovers with the lease and one without: guards %s", got)
		}
	})
}

// Failovers that are further apart than two guards use up no armings either, though
// nobody looks but right after each.
func TestR4_FailoversLongApartDoNotCount(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st, standby := w.open(), w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		for i := range 6 {
			w.renamed(func(m *simnet.Master) string { return fmt.Sprintf("beef%d%s", i, m.Name()) })
			if _, err := standby.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
				t.Fatal(err)
			}
			settle(t, standby)
			for range 8 {
				time.Sleep(lease / 3)
				if _, err := st.Renew(t.Context(), g); err != nil {
					t.Fatal(err)
				}
				settle(t, st)
			}
		}
		w.renamed(func(m *simnet.Master) string { return "cafe" + m.Name() })
		w.deleteLease(len(w.masters))
		if got := guardsOf(t, standby, bid("b", lease)); !got.Has(election.FailoverGuard) {
			t.Errorf("after six failovers with the lease and one without: guards %s", got)
		}
	})
}

// guardsOf is which guards refuse a bid.
func guardsOf(t *testing.T, st election.Store, b election.Bid) election.StoreGuards {
	t.Helper()
	_, err := st.Acquire(t.Context(), b)
	settle(t, st)
	var g *election.GuardError
	if !errors.As(err, &g) {
		t.Fatalf("bid of %s: %v", b.Candidate.ID, err)
	}
	return g.Guards
}

// A server that hides what it is: said once, and elections go on.
func TestR4_HiddenServerIsSaidOnce(t *testing.T) {
	for _, hide := range []string{"run_id:", "uptime_in_seconds:", "#"} {
		eachMode(t, func(t *testing.T, w *world) {
			var out safeBuffer
			w.opt.Logger = logTo(&out)
			w.each(func(m *simnet.Master) {
				m.RewriteInfo(func(info string) string {
					if hide == "#" {
						return ""
					}
					return strings.ReplaceAll(info, hide, "x")
				})
			})
			st := w.open()
			ended(t, st)
			ended(t, st)
			if got := strings.Count(out.String(), "hides run_id or uptime"); got != len(w.masters) {
				t.Errorf("without %s said %d times, want once a master:\n%s", hide, got, out.String())
			}
		})
	}
}

// Only a grant says which server a record belongs to: after a restart neither a
// renewal, nor a seal, nor a re-seat, nor a release takes the guard's subject away.
func TestR5_OnlyAGrantSetsTheServer(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		id := w.masters[0].HGetAll(recordKey)["run_id"]
		if !strings.HasPrefix(id, w.masters[0].RunID()) {
			t.Fatalf("the record says %q, the server is %q", id, w.masters[0].RunID())
		}
		w.masters[0].Restart(false)
		time.Sleep(10 * time.Millisecond)
		for range 2 {
			if _, err := st.Renew(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			settle(t, st)
		}
		if got := w.masters[0].HGetAll(recordKey)["run_id"]; got != id {
			t.Errorf("after a renewal the record says %q, want %q", got, id)
		}
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		if got := w.masters[0].HGetAll(recordKey)["run_id"]; got != id {
			t.Errorf("after a release the record says %q, want %q", got, id)
		}
	})
	for _, n := range []int{3, 5} { // a master that came back empty is re-seated
		inWorld(t, 1, n, func(t *testing.T, w *world) {
			st := w.open()
			g := win(t, st, bid("a", lease))
			settle(t, st)
			w.masters[0].Restart(true)
			time.Sleep(10 * time.Millisecond)
			if _, err := st.Renew(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			settle(t, st)
			r := w.masters[0].HGetAll(recordKey)
			if w.holders(g.Value) != n || r["run_id"] != "" {
				t.Errorf("%d hold it; the record is %v", w.holders(g.Value), r)
			}
			s, _ := st.Inspect(t.Context())
			if m := s.Masters[0]; !m.Guards.Has(election.NoRecordGuard | election.RestartGuard) {
				t.Errorf("re-seated onto no record: guards %s until %s", m.Guards, m.GuardUntil)
			}
		})
	}
}

// A server that knows nothing may have been wiped: it waits a TTL from first
// sight, unless it is said that nobody can be leading (R6).
func TestR6_NoRecordWaitsOnce(t *testing.T) {
	const why = election.NoRecordGuard | election.FailoverGuard
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		st := w.open()
		left := guarded(t, st, bid("a", lease), why)
		between(t, "the wait", left, lease-10*time.Millisecond, lease)
		time.Sleep(left / 2)
		again := guarded(t, st, bid("b", lease), why)
		between(t, "asked again", again, left/2-50*time.Millisecond, left/2)
		time.Sleep(again + time.Millisecond)
		ended(t, st)
		ended(t, st) // no later election waits
	})
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		st := w.open()
		guarded(t, st, bid("a", lease), why)
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		win(t, st, bid("a", lease)) // at once
		settle(t, st)
		var held *election.HeldError
		if err := initStore(t, st); !errors.As(err, &held) || held.Holder.ID != "a" {
			t.Errorf("Init while somebody leads: %v", err)
		}
	})
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open() // AssumeNew is on
		ended(t, st)
		w.each(func(m *simnet.Master) { m.FlushAll() })
		guarded(t, st, bid("a", lease), why) // it has seen a record: this is a wipe
	})
	eachMode(t, func(t *testing.T, w *world) {
		w.restart(true)
		st := w.open() // AssumeNew does not help a server that has just started
		guarded(t, st, bid("a", lease), election.RestartGuard)
		left := guarded(t, st, bid("a", lease), election.RestartGuard)
		between(t, "the wait", left, 3*time.Second, 4*time.Second)
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		win(t, st, bid("a", lease)) // but Init does
		settle(t, st)
		w.deleteLease(len(w.masters))
		w.restart(false)
		if got := guardsOf(t, st, bid("b", lease)); !got.Has(election.RestartGuard) {
			t.Errorf("a restart after Init: guards %s", got)
		}
	})
}

// A record at one master says that the others are not new.
func TestR6_AssumeNewIsForTheWholeQuorum(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		ended(t, w.open())
		st := w.open() // another process, with AssumeNew
		w.Cut("h2", w.masters[1])
		w.Cut("h2", w.masters[2])
		if _, err := st.Acquire(t.Context(), bid("a", lease)); err == nil {
			t.Fatal("one vote of three is enough")
		}
		settle(t, st)
		for _, m := range w.masters[1:] {
			m.FlushAll()
			w.Heal("h2", m)
		}
		time.Sleep(time.Second)
		if _, err := st.Acquire(t.Context(), bid("a", lease)); !errors.Is(err, election.ErrGuarded) {
			t.Errorf("two wiped masters of three: %v", err)
		}
		settle(t, st)
	})
}

func initStore(t *testing.T, st election.Store) error {
	t.Helper()
	return st.(interface{ Init(context.Context) error }).Init(t.Context())
}

// An empty restart costs one guard's length, not two: the guards run side by side.
func TestR6_EmptyRestartCostsOneGuard(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		win(t, st, bid("a", lease))
		settle(t, st)
		w.restart(true)
		left := guarded(t, st, bid("b", lease), election.RestartGuard|election.FailoverGuard|election.NoRecordGuard)
		between(t, "the wait", left, lease, lease+time.Second)
		time.Sleep(left + time.Millisecond)
		win(t, st, bid("b", lease))
	})
}

// A lease that is gone before its time is nobody's until then; renewals move that
// time, a release ends it, and so does the word of its own holder (R7).
func TestR7_EarlyExpiry(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		time.Sleep(time.Second)
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		w.deleteLease(len(w.masters))
		left := guarded(t, st, bid("b", lease), election.ExpiryGuard)
		between(t, "the wait", left, lease-50*time.Millisecond, lease)
		if _, err := st.Release(t.Context(), g); !errors.Is(err, election.ErrExpired) {
			t.Errorf("release of a lost lease: %v", err)
		}
		settle(t, st)
		g = win(t, st, bid("b", lease)) // nobody can believe in it any more
		settle(t, st)
		w.deleteLease(len(w.masters))
		left = guarded(t, st, bid("c", lease), election.ExpiryGuard)
		time.Sleep(left + 2*time.Millisecond)
		win(t, st, bid("c", lease))
		settle(t, st)
		if _, err := st.Release(t.Context(), g); !errors.Is(err, election.ErrTaken) {
			t.Errorf("release of an old term: %v", err)
		}
		settle(t, st)
		w.deleteLease(len(w.masters))
		guarded(t, st, bid("d", lease), election.ExpiryGuard) // an old term's release ends nothing
	})
}

// A clock that goes back leaves leases and records that end far too late: both
// are cut to what a lease can last, once.
func TestR7_ClockThatWentBack(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		dead, st := w.open(), w.open()
		win(t, dead, bid("a", lease))
		settle(t, dead)
		w.each(func(m *simnet.Master) { m.JumpClock(-time.Hour) })
		began := time.Now()
		for {
			_, err := st.Acquire(t.Context(), bid("b", lease))
			settle(t, st)
			if err == nil {
				break
			}
			var held *election.HeldError
			var waits *election.GuardError
			switch {
			case errors.As(err, &held):
				between(t, "held", held.Left, 0, lease)
				time.Sleep(held.Left + time.Millisecond)
			case errors.As(err, &waits):
				between(t, "guarded", waits.Left, 0, lease)
				time.Sleep(waits.Left + time.Millisecond)
			default:
				t.Fatal(err)
			}
		}
		between(t, "until somebody leads again", time.Since(began), lease-50*time.Millisecond, 2*lease)
	})
}

// So is the wait of a guard.
func TestR6_ClockThatWentBackWhileAGuardWaits(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		w.opt.GuardsOff = election.RestartGuard
		st := w.open()
		const why = election.NoRecordGuard | election.FailoverGuard
		guarded(t, st, bid("a", lease), why)
		w.each(func(m *simnet.Master) { m.JumpClock(-time.Hour) })
		left := guarded(t, st, bid("a", lease), why)
		between(t, "the wait", left, lease-10*time.Millisecond, lease)
		time.Sleep(left - time.Second)
		left = guarded(t, st, bid("a", lease), why)
		between(t, "asked again", left, 0, 1010*time.Millisecond)
		time.Sleep(left + time.Millisecond)
		win(t, st, bid("a", lease))
	})
}

// A server whose clock jumped ahead has ended leases early: who watched it does
// not use its grants for a TTL, and leaves no lease behind (R8).
func TestR8_ClockThatJumpedAhead(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st, watcher := w.open(), w.open()
		win(t, st, bid("a", lease))
		settle(t, st)
		if _, err := watcher.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
			t.Fatal(err)
		}
		settle(t, watcher)
		time.Sleep(time.Second)
		w.each(func(m *simnet.Master) { m.JumpClock(lease) })
		first := bid("b", lease)
		left := guarded(t, watcher, first, election.ClockGuard)
		between(t, "the wait", left, lease-100*time.Millisecond, lease)
		if w.holders(first.Value) != 0 {
			t.Errorf("the unused grant stands at %d masters", w.holders(first.Value))
		}
		before := w.commands("h2")
		guarded(t, watcher, bid("b", lease), election.ClockGuard)
		if n := w.commands("h2") - before; n != 0 {
			t.Errorf("%d commands to a server that is not trusted yet", n)
		}
		time.Sleep(left + time.Millisecond)
		win(t, watcher, bid("b", lease))
	})
}

// What is no jump: slow answers, drift within what a deadline gives up, a clock
// that goes back; and what is one nevertheless: back and forth.
func TestR8_WhatIsNoJump(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		w.each(func(m *simnet.Master) { w.Slow("h1", m, 100*time.Millisecond) })
		ended(t, st)
		w.each(func(m *simnet.Master) { w.Slow("h1", m, 0); m.SetDrift(5000) }) // 0.5 %
		time.Sleep(time.Hour)
		ended(t, st)
		w.each(func(m *simnet.Master) { m.SetDrift(0); m.JumpClock(-20 * time.Second) })
		ended(t, st)
		w.each(func(m *simnet.Master) { m.JumpClock(20 * time.Second) })
		guarded(t, st, bid("a", lease), election.ClockGuard)
	})
}

// A bid is recognised by its value before all guards: its lost reply costs nothing (R9).
func TestR9_OwnValueComesBeforeGuards(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		b := bid("a", lease)
		g := win(t, st, b)
		settle(t, st)
		w.restart(false)
		if again := win(t, st, b); again.Token != g.Token {
			t.Errorf("token %d, then %d", g.Token, again.Token)
		}
	})
}

// Each guard can be switched off by itself.
func TestGuardsAreSwitchedOffOneByOne(t *testing.T) {
	for _, tt := range []struct {
		guards election.StoreGuards
		fault  func(m *simnet.Master)
	}{
		{election.RestartGuard | election.FailoverGuard, func(m *simnet.Master) { m.Evict(leaseKey); m.Restart(false); time.Sleep(10 * time.Millisecond) }},
		{election.NoRecordGuard | election.FailoverGuard, func(m *simnet.Master) { m.FlushAll() }},
		{election.ExpiryGuard, func(m *simnet.Master) { m.Evict(leaseKey) }},
		{election.ClockGuard, func(m *simnet.Master) { m.JumpClock(time.Minute) }},
	} {
		for bits := election.NoGuards; bits <= election.AllGuards; bits++ {
			inWorld(t, 1, 1, func(t *testing.T, w *world) {
				w.opt.GuardsOff = election.AllGuards &^ bits
				st := w.open()
				win(t, st, bid("a", lease))
				tt.fault(w.masters[0])
				_, err := st.Acquire(t.Context(), bid("b", lease))
				settle(t, st)
				var g *election.GuardError
				errors.As(err, &g)
				want := tt.guards & bits
				if tt.guards.Has(election.RestartGuard) && bits.Has(election.ExpiryGuard) {
					want |= election.ExpiryGuard // the lease was lost as well
				}
				if tt.guards.Has(election.NoRecordGuard) && !bits.Has(election.NoRecordGuard) {
					want = 0 // without a record there is no server to compare with
				}
				if want == 0 && err != nil && !errors.Is(err, election.ErrLate) || want != 0 && (g == nil || g.Guards != want) {
					t.Errorf("guards on: %s; refused by %v, want %s", bits, err, want)
				}
			})
		}
	}
}

// Inspect shows which guards wait, and until when.
func TestInspectShowsGuards(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		look := func() election.MasterState {
			s, err := st.Inspect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return s.Masters[0]
		}
		if m := look(); m.Guards != 0 || !m.GuardUntil.IsZero() || m.Arms != 0 {
			t.Errorf("healthy: guards %s until %s, armed %d times", m.Guards, m.GuardUntil, m.Arms)
		}
		w.restart(true)
		left := guarded(t, st, bid("a", lease), election.RestartGuard|election.FailoverGuard|election.NoRecordGuard)
		m := look()
		if m.Guards != election.RestartGuard|election.FailoverGuard|election.NoRecordGuard || m.Arms != 1 {
			t.Errorf("restarted empty: guards %s, armed %d times", m.Guards, m.Arms)
		}
		between(t, "shown against refused", m.GuardUntil.Sub(m.Now)-left, -time.Second, 10*time.Millisecond)
		time.Sleep(left + time.Millisecond)
		win(t, st, bid("a", lease))
		settle(t, st)
		if m := look(); m.Guards != 0 || m.Arms != 0 {
			t.Errorf("after a grant: guards %s, armed %d times", m.Guards, m.Arms)
		}
	})
}

// A grant or a renewal that too few replicas have does not count, and leaves no
// lease behind.
func TestReplicaAcks(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.ReplicaAcks = 2
		w.each(func(m *simnet.Master) { m.SetAcks(2) })
		st := w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		w.each(func(m *simnet.Master) { m.SetAcks(1) })
		_, err := st.Renew(t.Context(), g)
		if !errors.Is(err, election.ErrNotReplicated) || heldByOther(err) || errors.Is(err, election.ErrExpired) {
			t.Errorf("renewal with one replica of two: %v", err)
		}
		settle(t, st)
		w.each(func(m *simnet.Master) { m.SetAcks(2); m.ScriptFlush() })
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Errorf("with both again, and no script: %v", err)
		}
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		w.each(func(m *simnet.Master) { m.SetAcks(0) })
		b := bid("b", lease)
		if _, err := st.Acquire(t.Context(), b); !errors.Is(err, election.ErrNotReplicated) {
			t.Errorf("bid without replicas: %v", err)
		}
		settle(t, st)
		if w.holders(b.Value) != 0 {
			t.Errorf("the bid stands at %d masters", w.holders(b.Value))
		}
	})
}

// Two addresses of one server have one vote: refused before anybody leads, and
// when it turns out only later.
func TestD15_OneServerTwice(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.Redirect("h1", w.masters[1], w.masters[0])
		st := w.open()
		_, err := st.Acquire(t.Context(), bid("a", lease))
		settle(t, st)
		if !errors.Is(err, election.ErrSameServer) || !election.Permanent(err) ||
			!strings.Contains(err.Error(), w.masters[0].Addr()) || !strings.Contains(err.Error(), w.masters[1].Addr()) {
			t.Errorf("got %v", err)
		}
	})
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.Cut("h1", w.masters[1])
		st := w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		w.Redirect("h1", w.masters[1], w.masters[0])
		w.Heal("h1", w.masters[1])
		var err error
		for range 3 {
			_, err = st.Renew(t.Context(), g)
			settle(t, st)
		}
		if !errors.Is(err, election.ErrSameServer) {
			t.Errorf("a renewal by one server of three, counted twice: %v", err)
		}
	})
}
