package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// An outage marks a majority as silent. Links that are slow, though fast enough
// for a vote, must not keep this candidate out from then on.
func TestA18_SilentMajorityElectsWhenItAnswers(t *testing.T) {
	for _, outage := range []bool{false, true} {
		t.Run(fmt.Sprint("outage=", outage), func(t *testing.T) {
			inWorld(t, 1, 3, func(t *testing.T, w *world) {
				for _, m := range w.masters {
					w.SetLatency("a", m, simnet.Latency{Min: 80 * time.Millisecond, Max: 81 * time.Millisecond})
				}
				a := w.elector("a", ttl(2*time.Second))
				if outage {
					for _, m := range w.masters {
						m.Crash()
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				c := campaign(ctx, a)
				time.Sleep(5 * time.Second)
				if outage {
					for _, m := range w.masters {
						m.Restart(false)
					}
				}
				r := <-c
				if r.err != nil {
					t.Errorf("never elected: %v", r.err)
				}
				shut(t, a)
			})
		})
	}
}

// Where too few masters can be reached to say that nobody leads, nobody says so.
func TestLeaderIsUnknownRatherThanNobody(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		a, b := w.elector("a"), w.elector("b")
		term := lead(t, a)
		time.Sleep(100 * time.Millisecond)
		w.masters[0].Evict(leaseKey)
		w.Cut("b", w.masters[1])
		if l, err := b.Leader(t.Context()); !errors.Is(err, election.ErrUnreachable) || !term.Valid() {
			t.Errorf("got %v, %v, want unreachable while a leads", l, err)
		}
		w.Heal("b", w.masters[1])
		shut(t, a, b)
	})
}

// A record that something else has filled with the largest of tokens is refused,
// and does not reach the other masters.
func TestC13_OneHugeTokenDoesNotSpread(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		c := w.clients("x")[2]
		c.HSet(t.Context(), recordKey, "last", "9007199254740991")
		c.Set(t.Context(), leaseKey, "zzz", time.Hour)
		st := w.open()
		w.Slow("h1", w.masters[0], 20*time.Millisecond) // the refusal comes first
		w.Slow("h1", w.masters[1], 20*time.Millisecond)
		for range 2 { // the second bid finds what the first one left
			if _, err := st.Acquire(t.Context(), bid("a", 3*time.Second)); !errors.Is(err, election.ErrTokenSpent) {
				t.Errorf("got %v, want %v", err, election.ErrTokenSpent)
			}
			settle(t, st)
		}
		for i, m := range w.masters[:2] {
			if last, _ := m.HGetAll(recordKey)["last"]; last != "" {
				t.Errorf("master %d has the token %s now", i+1, last)
			}
		}
	})
}

// A late vote whose seal was refused leaves its own token in the record. The next
// renewal puts the term's in its place, since a fence may be raised to it.
func TestStatusNamesTheTermsToken(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		b := bid("a", 3*time.Second)
		// m3 once sealed a bid that came to nothing: its last is above the clock of the others
		c := w.clients("x")
		now := time.Now().UnixMilli()
		c[2].HSet(t.Context(), recordKey, "last", fmt.Sprint(now+5000))
		_, _ = st.Inspect(t.Context())                   // connections stand
		w.Slow("h1", w.masters[2], 100*time.Millisecond) // a late vote
		g := win(t, st, b)
		settle(t, st)
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		s, _ := st.Inspect(t.Context())
		if s.Leader.Token != g.Token {
			t.Errorf("status names token %d, the term has %d", s.Leader.Token, g.Token)
		}
		_, _ = st.Release(t.Context(), g)
		settle(t, st)
	})
}

// Retention begins when the lease ends, however long that is.
func TestRecordOutlivesItsLease(t *testing.T) {
	inWorld(t, 1, 1, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards
		w.opt.Retention = time.Hour
		st := w.open()
		g := win(t, st, bid("a", 4*time.Hour))
		lease, record := w.masters[0].PTTL(leaseKey), w.masters[0].PTTL(recordKey)
		if record < lease {
			t.Error("the record ends before the lease")
		}
		_, _ = st.Release(t.Context(), g)
	})
}

// A renewal that had no turn at a slow master must not let the release overtake
// the re-seat that is still under way there: the lease would be nobody's for a TTL.
func TestA22_NoReseatOvertakesTheRelease(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.open()
		g := win(t, st, bid("a", 3*time.Second))
		settle(t, st)
		m := w.masters[2]
		m.Evict(leaseKey)
		_, _ = st.Renew(t.Context(), g) // loads the scripts, heals
		settle(t, st)
		if w.holders(g.Value) != 3 {
			t.Fatal("not healed")
		}
		m.Evict(leaseKey)
		w.Slow("h1", m, 300*time.Millisecond)
		g, err := st.Renew(t.Context(), g) // m3 says "expired" after 600 ms, and is sent a re-seat
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(620 * time.Millisecond)
		w.Slow("h1", m, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err = st.Renew(ctx, g); err != nil { // its turn at m3 times out
			t.Error(err)
		}
		cancel()
		time.Sleep(60 * time.Millisecond)
		if _, err = st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		settle(t, st)
		if n := w.holders(g.Value); n != 0 {
			t.Errorf("released, and %d master is held by it for another %s", n, m.PTTL(leaseKey))
		}
	})
}
