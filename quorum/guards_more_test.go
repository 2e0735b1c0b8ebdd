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
	"incumbent/quorum"
)

var _ = quorum.MinMasters

// A jump that is too short for the limit of a bid to notice: the master grants,
// and the candidate does not use it. Its token counts as seen.
func TestR8_GrantOfAClockThatJumpedIsGivenBack(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st, watcher := w.open(), w.open()
		win(t, st, bid("a", lease))
		settle(t, st)
		if _, err := watcher.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
			t.Fatal(err)
		}
		settle(t, watcher)
		time.Sleep(lease - 500*time.Millisecond)
		w.each(func(m *simnet.Master) { m.JumpClock(time.Second) })
		b := bid("b", lease)
		_, err := watcher.Acquire(t.Context(), b)
		settle(t, watcher)
		var g *election.GuardError
		if !errors.As(err, &g) || g.Guards != election.ClockGuard {
			t.Fatalf("got %v", err)
		}
		between(t, "the wait", g.Left, lease-100*time.Millisecond, lease)
		if w.holders(b.Value) != 0 {
			t.Errorf("the unused grant stands at %d masters", w.holders(b.Value))
		}
		if first := w.masters[0].HGetAll(recordKey)["token"]; fmt.Sprint(uint64(g.Last)+1) < first {
			t.Errorf("the refusal shows token %d, the unused grant had %s", g.Last, first)
		}
		time.Sleep(g.Left + time.Millisecond)
		win(t, watcher, bid("b", lease))
	})
}

// R7 refuses until the lost lease's very end.
func TestR7_UntilItsEnd(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		win(t, st, bid("a", lease))
		settle(t, st)
		w.deleteLease(len(w.masters))
		left := guarded(t, st, bid("b", lease), election.ExpiryGuard)
		time.Sleep(left - 50*time.Millisecond)
		guarded(t, st, bid("b", lease), election.ExpiryGuard)
	})
}

// Where several guards wait, the longest wait is what the refusal says.
func TestGuardsTheLongestWaitCounts(t *testing.T) {
	// lost is a lease that is renewed 2 s after first sight of what armed guards, and lost then.
	lost := func(t *testing.T, w *world, st election.Store, arm func()) (left time.Duration, guards election.StoreGuards) {
		g := win(t, st, bid("a", lease))
		settle(t, st)
		arm()
		if _, err := st.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
			t.Fatal(err)
		}
		settle(t, st)
		for range 4 {
			time.Sleep(500 * time.Millisecond)
			if _, err := st.Renew(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			settle(t, st)
		}
		w.deleteLease(len(w.masters))
		_, err := st.Acquire(t.Context(), bid("b", lease))
		settle(t, st)
		var waits *election.GuardError
		if !errors.As(err, &waits) {
			t.Fatal(err)
		}
		return waits.Left, waits.Guards
	}
	eachMode(t, func(t *testing.T, w *world) {
		left, guards := lost(t, w, w.open(), func() { w.renamed(func(m *simnet.Master) string { return "beef" + m.Name() }) })
		between(t, "failover and early expiry", left, lease-100*time.Millisecond, lease)
		if guards != election.FailoverGuard|election.ExpiryGuard {
			t.Errorf("guards %s", guards)
		}
	})
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.FailoverGuard
		left, guards := lost(t, w, w.open(), func() { w.each(func(m *simnet.Master) { m.Evict(recordKey) }) })
		between(t, "no record and early expiry", left, lease-100*time.Millisecond, lease)
		if guards != election.NoRecordGuard|election.ExpiryGuard {
			t.Errorf("guards %s", guards)
		}
	})
	eachMode(t, func(t *testing.T, w *world) { // the end of the restart guard, and first sight
		st := w.open()
		ended(t, st)
		w.restart(false)
		time.Sleep(lease - 500*time.Millisecond)
		left := guarded(t, st, bid("b", lease), election.FailoverGuard|election.RestartGuard)
		between(t, "restart and failover", left, lease-10*time.Millisecond, lease)
	})
}

// Without the early-expiry guard nothing is cut when the clock went back.
func TestR7_OffCutsNothing(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.ExpiryGuard
		st := w.open()
		win(t, st, bid("a", lease))
		settle(t, st)
		w.each(func(m *simnet.Master) { m.JumpClock(-time.Hour) })
		_, err := st.Acquire(t.Context(), bid("b", lease))
		settle(t, st)
		var held *election.HeldError
		if !errors.As(err, &held) || held.Left < 50*time.Minute {
			t.Errorf("got %v", err)
		}
	})
}

// Init at a server that hides its run_id says nothing of a later restart.
func TestR3_InitOfAHiddenServer(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.each(func(m *simnet.Master) {
			m.RewriteInfo(func(info string) string { return strings.ReplaceAll(info, "run_id:", "x") })
		})
		st := w.open()
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		w.restart(false)
		guarded(t, st, bid("a", lease), election.RestartGuard)
	})
}

// A candidate without a guard ends it for the others by its grant, and leaves what
// the early-expiry guard goes by.
func TestGuardsEndWithAGrant(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		on := w.open()
		w.opt.GuardsOff = election.AllGuards
		off := w.open()
		guarded(t, on, bid("a", lease), election.NoRecordGuard|election.FailoverGuard)
		ended(t, off)
		ended(t, on)
		win(t, off, bid("long", 10*time.Second))
		settle(t, off)
		w.deleteLease(len(w.masters))
		win(t, off, bid("short", time.Second))
		settle(t, off)
		time.Sleep(time.Second + 2*time.Millisecond)
		left := guarded(t, on, bid("a", lease), election.ExpiryGuard)
		_ = left
	})
}

// A record that a guard of another candidate has begun ends AssumeNew as well.
func TestR6_AssumeNewEndsWithAGuardedRecord(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		const why = election.NoRecordGuard | election.FailoverGuard
		st := w.open() // with AssumeNew
		w.opt.AssumeNew = false
		guarded(t, w.open(), bid("b", lease), why)
		guarded(t, st, bid("a", lease), why)
		w.each(func(m *simnet.Master) { m.FlushAll() })
		guarded(t, st, bid("a", lease), why)
	})
}

// As TestR6_AssumeNewIsForTheWholeQuorum, whichever master it is that knows.
func TestR6_AssumeNewEndsByAnyMaster(t *testing.T) {
	for knows := range 3 {
		inWorld(t, 1, 3, func(t *testing.T, w *world) {
			ended(t, w.open())
			st := w.open()
			for i, m := range w.masters {
				if i != knows {
					w.Cut("h2", m)
				}
			}
			if _, err := st.Acquire(t.Context(), bid("a", lease)); err == nil {
				t.Fatal("one vote of three is enough")
			}
			settle(t, st)
			for i, m := range w.masters {
				if i != knows {
					m.FlushAll()
					w.Heal("h2", m)
				}
			}
			time.Sleep(time.Second)
			if _, err := st.Acquire(t.Context(), bid("a", lease)); !errors.Is(err, election.ErrGuarded) {
				t.Errorf("m%d knows: %v", knows+1, err)
			}
			settle(t, st)
		})
	}
}

// Nothing is said of guards that are off.
func TestR4_HiddenServerWithoutGuardsIsNotSaid(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var out safeBuffer
		w.opt.Logger = logTo(&out)
		w.opt.GuardsOff = election.RestartGuard | election.FailoverGuard
		w.each(func(m *simnet.Master) { m.RewriteInfo(func(string) string { return "" }) })
		ended(t, w.open())
		if s := out.String(); s != "" {
			t.Errorf("said: %s", s)
		}
	})
}

// One server under two addresses, found by the votes themselves: it was another one
// when its kind was looked at. And not found where a server hides what it is now.
func TestD15_OneServerTwiceFoundByVotes(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards
		st := w.open()
		ended(t, st)
		w.Redirect("h1", w.masters[1], w.masters[0])
		time.Sleep(10 * time.Millisecond)
		var err error
		for range 2 { // the first may meet connections that are gone
			_, err = st.Acquire(t.Context(), bid("a", lease))
			settle(t, st)
		}
		if !errors.Is(err, election.ErrSameServer) {
			t.Errorf("got %v", err)
		}
		w.each(func(m *simnet.Master) { m.RewriteInfo(func(string) string { return "" }) })
		if _, err = st.Acquire(t.Context(), bid("a", lease)); errors.Is(err, election.ErrSameServer) {
			t.Errorf("hidden now: %v", err)
		}
		settle(t, st)
	})
}

// What a renewal leaves behind at a wiped master is no record.
func TestR6_LastAloneIsNoRecord(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		w.each(func(m *simnet.Master) { m.FlushAll() })
		if _, err := st.Renew(t.Context(), g); !errors.Is(err, election.ErrExpired) {
			t.Fatal(err)
		}
		settle(t, st)
		if r := w.masters[0].HGetAll(recordKey); r["last"] == "" || len(r) != 1 {
			t.Fatalf("the record is %v", r)
		}
		left := guarded(t, st, bid("b", lease), election.NoRecordGuard|election.FailoverGuard)
		between(t, "the wait", left, lease-10*time.Millisecond, lease)
	})
}

// When the failover guard stands down the others hold, and that is written.
func TestR4_StandingDownIsWrittenAndForItselfAlone(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		st := w.open()
		n := 0
		w.renamed(func(*simnet.Master) string { n++; return fmt.Sprintf("beef%d", n) })
		for range 3 {
			guarded(t, st, bid("a", lease), election.NoRecordGuard|election.FailoverGuard)
		}
		guarded(t, st, bid("a", lease), election.NoRecordGuard)
		if r := w.masters[0].HGetAll(recordKey); r["arms"] != "4" || r["guard_until"] != "0" {
			t.Errorf("the record is %v", r)
		}
	})
}

// A record that is lost while the lease stands arms the guards at first sight, not
// when the lease ends.
func TestR6_ArmedWhileHeld(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		st, standby := w.open(), w.open()
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		g := win(t, st, bid("a", lease))
		settle(t, st)
		w.each(func(m *simnet.Master) { m.Evict(recordKey) })
		if _, err := standby.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
			t.Fatal(err)
		}
		settle(t, standby)
		time.Sleep(2 * time.Second)
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		left := guarded(t, standby, bid("b", lease), election.NoRecordGuard|election.FailoverGuard)
		between(t, "the rest", left, 900*time.Millisecond, time.Second)
	})
}

// No record is kept for ever, whoever began it.
func TestRecordsHaveAnExpiry(t *testing.T) {
	begin := map[string]func(t *testing.T, w *world, st election.Store){
		"arm": func(t *testing.T, w *world, st election.Store) {
			guarded(t, st, bid("a", lease), election.NoRecordGuard|election.FailoverGuard)
		},
		"init": func(t *testing.T, w *world, st election.Store) {
			if err := initStore(t, st); err != nil {
				t.Fatal(err)
			}
		},
		"grant": func(t *testing.T, w *world, st election.Store) {
			_ = initStore(t, st)
			win(t, st, bid("a", lease))
		},
		"renew": func(t *testing.T, w *world, st election.Store) {
			_ = initStore(t, st)
			g := win(t, st, bid("a", lease))
			settle(t, st)
			w.each(func(m *simnet.Master) { m.Evict(recordKey) })
			if _, err := st.Renew(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, f := range begin {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				w.opt.AssumeNew = false
				st := w.open()
				f(t, w, st)
				settle(t, st)
				for _, m := range w.masters {
					if d := m.PTTL(recordKey); d < 29*24*time.Hour {
						t.Errorf("%s: the record at %s ends in %s", name, m.Name(), d)
					}
				}
			})
		})
	}
}

// onSeal calls f whenever m is about to be asked to seal.
func onSeal(m *simnet.Master, f func()) {
	m.Intercept(func(_ string, args []string) (string, bool) {
		if strings.HasPrefix(strings.ToUpper(args[0]), "EVAL") && len(args) == 8 && args[7] == "2592000000" { // its retention
			f()
		}
		return "", false
	})
}

// A vote whose record is lost before its seal gets one that ends.
func TestRecordBegunBySealHasAnExpiry(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		w.each(func(m *simnet.Master) { onSeal(m, func() { m.Evict(recordKey) }) })
		win(t, st, bid("a", lease))
		settle(t, st)
		for _, m := range w.masters {
			r := m.HGetAll(recordKey)
			if d := m.PTTL(recordKey); d < 29*24*time.Hour || r["until"] != "" || r["last"] == "" {
				t.Errorf("the record at %s, %v, ends in %s", m.Name(), r, d)
			}
		}
	})
}

// Servers before 7.0 take one section of INFO.
func TestR4_ServerThatTakesOneSectionOfInfo(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards &^ election.FailoverGuard
		w.each(func(m *simnet.Master) {
			m.InterceptScript(func(args []string) (string, bool) {
				return "ERR syntax error", strings.EqualFold(args[0], "INFO") && len(args) > 2
			})
		})
		st := w.open()
		ended(t, st)
		if got := w.masters[0].HGetAll(recordKey)["run_id"]; !strings.HasPrefix(got, w.masters[0].RunID()) {
			t.Errorf("the record says %q", got)
		}
		w.restart(false)
		guarded(t, st, bid("a", lease), election.FailoverGuard)
	})
}

// A bid whose record was lost after its vote is still recognised, before all guards.
func TestR9_OwnValueWithoutARecord(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		st := w.open()
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		b := bid("a", lease)
		g := win(t, st, b)
		settle(t, st)
		w.each(func(m *simnet.Master) { m.Evict(recordKey) })
		b.Floor = g.Token
		if again := win(t, st, b); again.Token <= g.Token {
			t.Errorf("token %d, then %d", g.Token, again.Token)
		}
	})
}

// A guard's refusal tells the highest token, as a held lease's does.
func TestGuardsTellTheLastToken(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		g := ended(t, st)
		w.restart(false)
		_, err := w.open().Acquire(t.Context(), bid("b", lease))
		var waits *election.GuardError
		if !errors.As(err, &waits) || waits.Last != g.Token {
			t.Errorf("after token %d: %v", g.Token, err)
		}
		settle(t, st)
	})
}

// A server that hides what it is from now on is no other server.
func TestR4_ServerThatBeginsToHide(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		w.each(func(m *simnet.Master) { m.RewriteInfo(func(string) string { return "" }) })
		ended(t, st)
		ended(t, st)
	})
}

// Init ends the wait for a lease that was lost, and AssumeNew.
func TestInitEndsWaits(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		win(t, st, bid("a", lease))
		settle(t, st)
		w.deleteLease(len(w.masters))
		guarded(t, st, bid("b", lease), election.ExpiryGuard)
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		ended(t, st)
	})
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open() // AssumeNew is on
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		w.each(func(m *simnet.Master) { m.FlushAll() })
		guarded(t, st, bid("a", lease), election.NoRecordGuard|election.FailoverGuard)
	})
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		w.each(func(m *simnet.Master) {
			if _, err := m.Do("SET", leaseKey, "foreign"); err != nil {
				t.Fatal(err)
			}
		})
		var held *election.HeldError
		if err := initStore(t, st); !errors.As(err, &held) || held.Left != 0 {
			t.Errorf("a lease without an end: %v", err)
		}
	})
}

// A renewal ends no guard that waits at its server.
func TestR5_RenewalEndsNoGuard(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st, standby := w.open(), w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		w.renamed(func(m *simnet.Master) string { return "beef" + m.Name() })
		if _, err := standby.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
			t.Fatal(err)
		}
		settle(t, standby)
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		left := guarded(t, standby, bid("b", lease), election.FailoverGuard)
		between(t, "the rest", left, lease-100*time.Millisecond, lease)
	})
}

// A release of another value than the last one ends no wait.
func TestR7_ReleaseOfAnEarlierTermEndsNothing(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		old := ended(t, st)
		win(t, st, bid("b", lease))
		settle(t, st)
		w.deleteLease(len(w.masters))
		again := old
		again.State = nil // sent again by somebody who knows nothing of the first
		if _, err := st.Release(t.Context(), again); !errors.Is(err, election.ErrExpired) {
			t.Errorf("got %v", err)
		}
		settle(t, st)
		guarded(t, st, bid("c", lease), election.ExpiryGuard)
	})
}

// What a re-seat writes: onto a record the lease and its end, onto none the guards, too.
func TestR6_WhatAReseatWrites(t *testing.T) {
	for _, n := range []int{3, 5} {
		for _, wiped := range []bool{false, true} {
			inWorld(t, 1, n, func(t *testing.T, w *world) {
				st := w.open()
				first := win(t, st, bid("z", lease))
				settle(t, st)
				if _, err := st.Release(t.Context(), first); err != nil {
					t.Fatal(err)
				}
				settle(t, st)
				m := w.masters[0]
				w.Cut("h1", m)
				b := bid("a", lease)
				b.MaxTTL = 10 * time.Second
				g := win(t, st, b)
				time.Sleep(time.Second)
				settle(t, st)
				w.Heal("h1", m)
				time.Sleep(time.Second)
				m.Evict(leaseKey)
				if wiped {
					m.Evict(recordKey)
				}
				for try := 0; try < 3 && w.holders(g.Value) < n; try++ { // not one renewal more
					if _, err := st.Renew(t.Context(), g); err != nil {
						t.Fatal(err)
					}
					settle(t, st)
				}
				now, r := m.Now().UnixMilli(), m.HGetAll(recordKey)
				at := func(field string) time.Duration {
					var ms int64
					_, _ = fmt.Sscan(r[field], &ms) // 0 where there is none
					return time.Duration(ms-now) * time.Millisecond
				}
				if w.holders(g.Value) != n || r["value"] != g.Value || r["run_id"] != "" && wiped {
					t.Errorf("%d hold it; the record is %v", w.holders(g.Value), r)
				}
				between(t, "the end of the lease", at("until"), lease-100*time.Millisecond, lease)
				if wiped {
					between(t, "the no-record guard", at("fresh_until"), 9900*time.Millisecond, 10*time.Second)
					between(t, "the failover guard", at("guard_until"), 9900*time.Millisecond, 10*time.Second)
				} else if at("fresh_until") > 0 || at("guard_until") > 0 {
					t.Errorf("guards were armed: %v", r)
				}
			})
		}
	}
}

// The wait for a clock that jumped runs down, also for those who do not ask.
func TestR8_TheWaitRunsDown(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		w.each(func(m *simnet.Master) { m.JumpClock(time.Minute) })
		left := guarded(t, st, bid("a", lease), election.ClockGuard)
		time.Sleep(time.Second)
		again := guarded(t, st, bid("a", lease), election.ClockGuard)
		between(t, "a second later", left-again, time.Second-10*time.Millisecond, time.Second+100*time.Millisecond)
	})
}

// Seals and re-seats count only when replicas have them, a refusal always does; and
// what WAIT is asked.
func TestReplicaAcksOfEachScript(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.opt.ReplicaAcks = 2
		w.each(func(m *simnet.Master) {
			m.SetAcks(2)
			onSeal(m, func() { m.SetAcks(1) })
		})
		st := w.open()
		b := bid("a", lease)
		if _, err := st.Acquire(t.Context(), b); !errors.Is(err, election.ErrNotReplicated) {
			t.Errorf("seals with one replica of two: %v", err)
		}
		settle(t, st)
		if w.holders(b.Value) != 0 {
			t.Errorf("the bid stands at %d masters", w.holders(b.Value))
		}
		w.each(func(m *simnet.Master) { m.Intercept(nil); m.SetAcks(2) })
		g := win(t, st, bid("a", lease))
		settle(t, st)
		w.masters[0].Evict(leaseKey)
		w.masters[0].SetAcks(1)
		if _, err := st.Renew(t.Context(), g); err != nil { // and re-seat
			t.Fatal(err)
		}
		settle(t, st)
		w.masters[0].Hang() // its next answer would be the news
		defer w.masters[0].Resume()
		if r, err := st.Renew(t.Context(), g); err != nil || r.Held != 2 {
			t.Errorf("a re-seat with one replica of two counts: %d held, %v", r.Held, err)
		}
		w.masters[0].Resume()
		settle(t, st)
	})
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.ReplicaAcks = 2
		w.each(func(m *simnet.Master) {
			m.SetAcks(2)
			m.Intercept(func(_ string, args []string) (string, bool) {
				if args[0] == "WAIT" || args[0] == "wait" {
					var ms int
					if _, err := fmt.Sscan(args[2], &ms); err != nil || args[1] != "2" || ms < 1 || ms > 565 {
						t.Errorf("asked: %v", args) // a call may take TTL/4
					}
				}
				return "", false
			})
		})
		st := w.open()
		win(t, st, bid("a", lease))
		settle(t, st)
		w.each(func(m *simnet.Master) { m.SetAcks(0) })
		if _, err := st.Acquire(t.Context(), bid("b", lease)); !heldByOther(err) {
			t.Errorf("a refusal without replicas: %v", err)
		}
		settle(t, st)
	})
}

// Inspect shows what would refuse: not guards that are off, not the restart guard
// of a process at which Init was called, the clock guard too, and all to the second.
func TestInspectShowsWhatWouldRefuse(t *testing.T) {
	look := func(t *testing.T, st election.Store) election.MasterState {
		t.Helper()
		s, err := st.Inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Masters[0]
	}
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards &^ election.RestartGuard
		st := w.open()
		w.restart(true)
		left := guarded(t, st, bid("a", lease), election.RestartGuard)
		if m := look(t, st); m.Guards != election.RestartGuard || m.GuardUntil.Sub(m.Now) != left {
			t.Errorf("guards %s for %s, refused for %s", m.Guards, m.GuardUntil.Sub(m.Now), left)
		}
		w.opt.GuardsOff = election.AllGuards
		if m := look(t, w.open()); m.Guards != 0 {
			t.Errorf("all are off: guards %s", m.Guards)
		}
		if err := initStore(t, st); err != nil {
			t.Fatal(err)
		}
		if m := look(t, st); m.Guards != 0 {
			t.Errorf("after Init: guards %s", m.Guards)
		}
		g := win(t, st, bid("long", time.Minute))
		settle(t, st)
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		w.restart(false)
		w.opt.GuardsOff = election.AllGuards &^ election.RestartGuard
		short := w.open()
		left = guarded(t, short, bid("short", lease), election.RestartGuard)
		if m := look(t, short); m.GuardUntil.Sub(m.Now) != left {
			t.Errorf("after a long lease: shown %s, refused for %s", m.GuardUntil.Sub(m.Now), left)
		}
	})
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		w.each(func(m *simnet.Master) { m.JumpClock(time.Minute) })
		left := guarded(t, st, bid("a", lease), election.ClockGuard)
		m := look(t, st)
		if m.Guards != election.ClockGuard {
			t.Errorf("guards %s", m.Guards)
		}
		between(t, "the wait", left-m.GuardUntil.Sub(m.Now), 0, 20*time.Millisecond)
	})
}

// An answer that was slow, and then one that is not.
func TestR8_SlowThenQuick(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		w.each(func(m *simnet.Master) { w.Slow("h1", m, 100*time.Millisecond) })
		ended(t, st)
		w.each(func(m *simnet.Master) { w.Slow("h1", m, 0) })
		ended(t, st)
	})
}

// One server twice is found whoever holds it, and by Check.
func TestD15_OneServerTwiceIsFoundAnyway(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st, other := w.open(), w.open()
		ended(t, other)
		check := func() error { return other.(interface{ Check(context.Context) error }).Check(t.Context()) }
		if err := check(); err != nil {
			t.Fatal(err)
		}
		win(t, st, bid("a", lease))
		settle(t, st)
		w.Redirect("h2", w.masters[1], w.masters[0])
		time.Sleep(10 * time.Millisecond)
		var err error
		for range 2 { // the first may meet connections that are gone
			_, err = other.Acquire(t.Context(), bid("b", lease))
			settle(t, other)
		}
		if !errors.Is(err, election.ErrSameServer) {
			t.Errorf("while held: %v", err)
		}
		if err := check(); !errors.Is(err, election.ErrSameServer) {
			t.Errorf("Check: %v", err)
		}
	})
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		check := func() error { return st.(interface{ Check(context.Context) error }).Check(t.Context()) }
		if err := check(); err != nil {
			t.Fatal(err)
		}
		w.Redirect("h1", w.masters[1], w.masters[0])
		time.Sleep(10 * time.Millisecond)
		if err := check(); !errors.Is(err, election.ErrSameServer) {
			t.Errorf("Check: %v", err)
		}
		if err := initStore(t, st); !errors.Is(err, election.ErrSameServer) {
			t.Errorf("Init: %v", err)
		}
	})
}

// A member of a Cluster is no independent master.
func TestClusterMemberIsNoMaster(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.each(func(m *simnet.Master) {
			m.RewriteInfo(func(info string) string { return info + "\r\n# Cluster\r\ncluster_enabled:1\r\n" })
		})
		st := w.open()
		_, err := st.Acquire(t.Context(), bid("a", lease))
		settle(t, st)
		if !errors.Is(err, election.ErrWrongClient) || !election.Permanent(err) {
			t.Errorf("got %v", err)
		}
	})
}

// One vote, one rival's and one guard are split votes: trying again may win.
func TestSplitVotesBesideAGuard(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		w.masters[0].Restart(true)
		time.Sleep(10 * time.Millisecond)
		if _, err := w.masters[1].Do("SET", leaseKey, "rival", "PX", "3000"); err != nil {
			t.Fatal(err)
		}
		_, err := st.Acquire(t.Context(), bid("a", lease))
		settle(t, st)
		if !errors.Is(err, election.ErrContended) || errors.Is(err, election.ErrGuarded) {
			t.Errorf("got %v", err)
		}
	})
}

// What a guarded master knows counts: for the token of a bid that wins without it,
// and in the refusal, which names all guards and masters.
func TestGuardedMastersAreHeard(t *testing.T) {
	const high = 4_000_000_000_000
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		if _, err := w.masters[0].Do("HSET", recordKey, "last", fmt.Sprint(high)); err != nil {
			t.Fatal(err)
		}
		w.masters[0].Restart(false)
		time.Sleep(10 * time.Millisecond)
		for _, m := range w.masters[1:] {
			w.Slow("h1", m, 50*time.Millisecond) // so that the guarded one is heard in time
		}
		if g := win(t, st, bid("a", lease)); g.Token <= high {
			t.Errorf("token %d, a guarded master knows %d", g.Token, int64(high))
		}
	})
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		ended(t, st)
		if _, err := w.masters[0].Do("HSET", recordKey, "last", fmt.Sprint(high)); err != nil {
			t.Fatal(err)
		}
		w.masters[0].Restart(false)
		w.masters[2].FlushAll()
		time.Sleep(10 * time.Millisecond)
		_, err := st.Acquire(t.Context(), bid("a", lease))
		settle(t, st)
		var g *election.GuardError
		if !errors.As(err, &g) || g.Last != high || len(g.Masters) != 2 ||
			g.Guards != election.RestartGuard|election.FailoverGuard|election.NoRecordGuard {
			t.Errorf("got %+v: %v", g, err)
		}
		between(t, "until a majority is free", g.Left, lease-20*time.Millisecond, lease) // the flushed one, not the restarted one
	})
}

// Init needs all masters, and refuses where one of them is held.
func TestInitNeedsAllMasters(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		w.Cut("h1", w.masters[2])
		var q *quorum.Error
		if err := initStore(t, st); !errors.As(err, &q) || q.Agreed != 2 || q.Need != 3 {
			t.Errorf("one master of three cut off: %v", err)
		}
		w.Heal("h1", w.masters[2])
		if _, err := w.masters[2].Do("SET", leaseKey, "rival", "PX", "3000"); err != nil {
			t.Fatal(err)
		}
		w.masters[0].FlushAll()
		var held *election.HeldError
		if err := initStore(t, st); !errors.As(err, &held) {
			t.Errorf("one master of three held: %v", err)
		}
		if r := w.masters[0].HGetAll(recordKey); len(r) != 0 {
			t.Errorf("and yet it was said to another: %v", r)
		}
	})
}

// A re-seat that a master refuses does not count as held.
func TestRefusedReseatIsNotHeld(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		g := win(t, st, bid("a", lease))
		settle(t, st)
		w.masters[0].Evict(leaseKey)
		if _, err := w.masters[0].Do("HSET", recordKey, "last", "4000000000000"); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Renew(t.Context(), g); err != nil { // and re-seat
			t.Fatal(err)
		}
		settle(t, st)
		w.masters[0].Hang()
		defer w.masters[0].Resume()
		if r, err := st.Renew(t.Context(), g); err != nil || r.Held != 2 {
			t.Errorf("%d held, %v", r.Held, err)
		}
		w.masters[0].Resume()
		settle(t, st)
	})
}
