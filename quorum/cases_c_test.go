package quorum_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// A black-holed leader ends its term before the store ends its lease: 100 of 100
// runs, cut at another instant of the renewal cycle each.
func TestC01_BlackHoledLeaderEndsFirst(t *testing.T) {
	for _, n := range modes {
		t.Run(fmt.Sprintf("masters=%d", n), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(100) {
				inWorld(t, seed+1, n, func(t *testing.T, w *world) { blackHole(t, w, time.Duration(seed)*31*time.Millisecond) })
			}
		})
	}
}

func blackHole(t *testing.T, w *world, after time.Duration) {
	e := w.elector("a")
	term := lead(t, e)
	time.Sleep(after)
	w.Isolate("a")
	<-term.Context().Done()
	done := time.Now()
	if !term.Valid() {
		t.Fatal("invalid before the context was done: no time to stop")
	}
	for term.Valid() {
		time.Sleep(time.Millisecond)
	}
	held := 0
	for _, m := range w.masters {
		if m.PTTL(leaseKey) > 0 {
			held++
		}
	}
	if held < w.need() {
		t.Errorf("cut %s into the cycle: %s after the context was done only %d masters keep the lease", after, time.Since(done), held)
	}
	w.Rejoin("a")
	shut(t, e)
}

// Around a hand-over never both say that they lead.
func TestC04_NeverBothAroundAHandOver(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		a, b := w.elector("a"), w.elector("b")
		term := lead(t, a)
		for range 30 {
			standby := campaign(t.Context(), b)
			time.Sleep(5 * time.Millisecond)
			go func() { _ = term.Resign(t.Context()) }() // its end is seen below
			for len(standby) == 0 {
				time.Sleep(100 * time.Microsecond)
			}
			r := <-standby
			if r.err != nil || term.Valid() {
				t.Fatalf("old term valid %t, %v", term.Valid(), r.err)
			}
			term, a, b = r.term, b, a
		}
		shut(t, a, b)
	})
}

// The holder is told within a renewal interval that its lease was deleted or
// taken, and by whom.
func TestC07_HolderIsTold(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards
		e := w.elector("a")
		for _, taken := range []bool{false, true} {
			term := lead(t, e)
			w.deleteLease(len(w.masters))
			var rival election.Grant
			thief := w.store("thief")
			if taken {
				rival = win(t, thief, bid("thief", 10*time.Second))
			}
			start := time.Now()
			err := lossOf(t, term, time.Second)
			var by *election.TakenError
			if errors.As(err, &by) != taken || taken && by.By.ID != "thief" || !taken && !errors.Is(err, election.ErrExpired) {
				t.Errorf("told after %s: %v", time.Since(start), err)
			}
			if taken {
				if _, err := thief.Release(t.Context(), rival); err != nil {
					t.Error(err)
				}
				settle(t, thief)
			}
		}
		shut(t, e)
	})
}

// A minority of masters expires the lease early (by a clock that jumps): still
// leader, healed at the next renewal. A majority: lost within one.
func TestC11_ClockJumpsForward(t *testing.T) {
	for _, n := range []int{3, 5} {
		inWorld(t, 1, n, func(t *testing.T, w *world) {
			e := w.elector("a")
			term := lead(t, e)
			value, _ := w.masters[0].Get(leaseKey)
			few := n - w.need()
			for _, m := range w.masters[:few] {
				m.JumpClock(10 * time.Second)
			}
			if w.holders(value) != n-few {
				t.Fatalf("%d masters hold the lease after the jump", w.holders(value))
			}
			time.Sleep(1100 * time.Millisecond)
			if !term.Valid() || w.holders(value) != n {
				t.Errorf("valid %t, held by %d of %d", term.Valid(), w.holders(value), n)
			}
			for _, m := range w.masters[n-w.need():] {
				m.JumpClock(10 * time.Second)
			}
			if err := lossOf(t, term, time.Second); !errors.Is(err, election.ErrExpired) {
				t.Errorf("cause %v", err)
			}
			shut(t, e)
		})
	}
}

// One token a term: in every reply, in every record, over 100 renewals.
func TestC12_OneTokenATerm(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var rec recorder
		e := w.elector("a", rec.on)
		term := lead(t, e)
		for len(rec.of(election.Renewed)) < 100 {
			time.Sleep(time.Second)
			for i, m := range w.masters {
				if r := m.HGetAll(recordKey); r["token"] != fmt.Sprint(term.Token()) || term.Token() == 0 {
					t.Fatalf("master %d: token %s in term %d", i, r["token"], term.Token())
				}
			}
		}
		for _, ev := range rec.of(election.Renewed) {
			if ev.Token != term.Token() {
				t.Fatalf("renewed with token %d in term %d", ev.Token, term.Token())
			}
		}
		shut(t, e)
	})
}

// Everything is wiped after 41 terms: the next token is larger still.
func TestC13_WipeDoesNotRestartTokens(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a")
		var last election.Token
		for range 41 {
			g := win(t, st, bid("a", time.Second))
			if g.Token <= last {
				t.Fatalf("token %d after %d", g.Token, last)
			}
			last = g.Token
			if _, err := st.Release(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			settle(t, st)
		}
		time.Sleep(100 * time.Millisecond) // by its clock a wiped master gives larger tokens
		for _, m := range w.masters {
			m.FlushAll()
		}
		if g := win(t, w.store("b"), bid("b", time.Second)); g.Token <= last { // b remembers nothing
			t.Errorf("token %d after %d", g.Token, last)
		}
	})
}

// Wiped, and the clock is an hour behind: who remembers is not given less, or is
// told.
func TestC13_WipeAndAClockThatGoesBack(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		if err := term.Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for _, m := range w.masters {
			m.FlushAll()
			m.JumpClock(-time.Hour)
		}
		if next := lead(t, e); next.Token() <= term.Token() {
			t.Errorf("token %d after %d", next.Token(), term.Token())
		}
		shut(t, e)
	})
}

// An election that is over leaves one small key a master, for the retention and
// no longer.
func TestC14_RecordsAreKeptForTheRetention(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		const names = 40
		w.opt.Retention = 2 * time.Hour
		for i := range names {
			st := newStore(t, w.clients("a"), fmt.Sprintf("job-%d", i), w.opt)
			g := win(t, st, bid("a", time.Second))
			if i%2 == 0 {
				if _, err := st.Renew(t.Context(), g); err != nil {
					t.Fatal(err)
				}
			}
			if i%4 > 0 {
				if _, err := st.Release(t.Context(), g); err != nil {
					t.Fatal(err)
				}
			}
			settle(t, st)
		}
		time.Sleep(2 * time.Second)
		for i, m := range w.masters {
			if keys := m.Keys(); len(keys) != names {
				t.Errorf("master %d has %d keys after %d elections", i, len(keys), names)
			}
			for _, k := range m.Keys() {
				if left := m.PTTL(k); left == simnet.NoExpiry || left < 2*time.Hour-10*time.Second || left > 2*time.Hour {
					t.Errorf("master %d keeps %s for %s", i, k, left)
				}
			}
		}
		time.Sleep(2 * time.Hour)
		for i, m := range w.masters {
			if keys := m.Keys(); len(keys) != 0 {
				t.Errorf("master %d keeps %v after the retention", i, keys)
			}
		}
	})
}

// A record that vanished alone, with the lease still there, is not begun anew
// without an expiry when the lease is given back.
func TestC14_NoRecordWithoutExpiry(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a")
		g := win(t, st, bid("a", time.Second))
		settle(t, st)
		for _, m := range w.masters {
			m.Evict(recordKey)
		}
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		for i, m := range w.masters {
			for _, k := range m.Keys() {
				if m.PTTL(k) == simnet.NoExpiry {
					t.Errorf("master %d keeps %s for ever", i, k)
				}
			}
		}
	})
}

// A hundred rotations of the majority of three, different candidates, each master
// wiped once in between; in the second series the masters' clocks differ by up to
// a minute. Tokens strictly increase, or the candidate is told.
func TestC15_TokensFromRotatingMajorities(t *testing.T) {
	for _, skew := range []time.Duration{0, 30 * time.Second} {
		t.Run(fmt.Sprintf("skew=%s", 2*skew), func(t *testing.T) {
			inWorld(t, 1, 3, func(t *testing.T, w *world) {
				w.opt.GuardsOff = election.AllGuards
				w.masters[0].SetClockOffset(skew)
				w.masters[2].SetClockOffset(-skew)
				rotate(t, w)
			})
		})
	}
}

func rotate(t *testing.T, w *world) {
	stores := []election.Store{w.store("a"), w.store("b"), w.store("c")}
	wiped := map[int]int{20: 0, 50: 1, 80: 2}
	var last election.Token
	for i := range 100 {
		if m, ok := wiped[i]; ok {
			w.masters[m].FlushAll()
		}
		out := w.masters[i%3]
		out.Crash()
		st := stores[i%len(stores)]
		g, err := st.Acquire(t.Context(), bid("x", time.Second))
		switch {
		case errors.Is(err, election.ErrTokenRegressed):
			t.Logf("rotation %d: %v", i, err)
		case err != nil:
			t.Fatalf("rotation %d: %v", i, err)
		case g.Token <= last:
			t.Fatalf("rotation %d: token %d after %d", i, g.Token, last)
		default:
			last = g.Token
			if i%2 == 0 {
				if _, err := st.Renew(t.Context(), g); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := st.Release(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		settle(t, st)
		out.Restart(false)
	}
}

// Two candidates with one name: never both, and it is said once.
func TestC16_OneNameTwice(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var log safeBuffer
		same := func(o *election.Options) {
			o.ID, o.Logger = "same", slog.New(slog.NewTextHandler(&log, nil))
		}
		a, b := w.elector("a", same), w.elector("b", same)
		term := lead(t, a)
		standby := campaign(t.Context(), b)
		time.Sleep(time.Minute)
		if len(standby) != 0 || !term.Valid() {
			t.Errorf("after a minute: the first leads %t, the second's campaign has ended: %t", term.Valid(), len(standby) != 0)
		}
		if n := strings.Count(log.String(), "carries the same ID"); n != 1 {
			t.Errorf("said %d times: %s", n, log.String())
		}
		shut(t, b, a)
	})
}

// safeBuffer is a buffer that several goroutines may write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
