package election_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// A30: the caller gives up in the instant in which its bid wins. Whoever led
// says so once, in order; whoever did not says nothing, and leaves no lease.
func TestA30_CancelInTheInstantOfWinning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(ms)
		c := join(t, m.Store(), "a")
		won := 0
		for i := range 10000 {
			ctx, cancel := context.WithTimeout(bg, ms)
			term, err := c.Campaign(ctx)
			cancel()
			if (term == nil) != errors.Is(err, election.ErrNotAcquired) {
				t.Fatalf("round %d: %v, %v", i, term, err)
			}
			if term != nil {
				won++
				if err := term.Resign(bg); err != nil {
					t.Fatalf("round %d: %v", i, err)
				}
			}
			pass(3 * ms) // an abandoned bid is given back by then
			if l, held := m.Leader(); held {
				t.Fatalf("round %d: token %d is still held", i, l.Token)
			}
		}
		if won < 100 || won > 9900 {
			t.Errorf("won %d of 10000: it was no race", won)
		}
		if got := wantOrder(t, c.events.list()); got != won {
			t.Errorf("%d terms reported, %d led", got, won)
		}
	})
}

// F04: 10,000 terms over 1,000 elections that end in every way leave no goroutine.
func TestF04_NothingIsLeftBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		for name := range 1000 {
			m := electiontest.NewMemory()
			e := m.Elector(election.Options{ID: "a", TTL: ttl, Logger: quiet(), Random: seeded(uint64(name)),
				Health: func(context.Context) error { return nil }})
			for round := range 10 {
				term := lead(t, e)
				switch round % 5 {
				case 0: // released
					_ = term.Resign(bg)
				case 1: // gone before it was released
					m.Expire()
					_ = term.Resign(bg)
				case 2: // lost at a renewal
					m.Expire()
					<-term.Context().Done()
				case 3: // a wait that was given up
					_ = term.Resign(bg)
					m.StealBy("thief")
					ctx, cancel := context.WithTimeout(bg, ms)
					_, _ = e.Campaign(ctx)
					cancel()
					m.Free()
				case 4: // fenced
					term.Fenced(term.Token() + 1)
				}
			}
			if err := e.Close(bg); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Second)
		if after := runtime.NumGoroutine(); after > before+2 {
			t.Errorf("%d goroutines before, %d after", before, after)
		}
	})
}

// No timer outlives what it was set for.
func TestNoTimerIsLeftBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		clock := &countingClock{}
		c := join(t, m.Store(), "a", func(o *election.Options) {
			o.Clock = clock
			o.Health = func(context.Context) error { return nil }
		})
		none := func(after string) {
			t.Helper()
			synctest.Wait()
			if got := clock.live.Load(); got != 0 {
				t.Errorf("%d timers left after %s", got, after)
			}
		}
		term := lead(t, c)
		pass(ttl)
		_ = term.Resign(bg)
		none("a resignation")
		term = lead(t, c)
		m.Expire()
		<-term.Context().Done()
		none("a loss")
		m.StealBy("thief")
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, _ = c.Campaign(ctx)
		none("a campaign that was given up")
		ctx, cancel = context.WithTimeout(bg, 100*ms)
		defer cancel()
		for range c.Observe(ctx) {
		}
		none("observing")
		m.Free()
		done := runIn(bg, c, untilDone)
		pass(renew)
		if err := c.Close(bg); err != nil {
			t.Error(err)
		}
		<-done
		none("Close")
	})
}

// C04: two candidates around 1,000 handovers, asked every 100 us: never do both
// say that they lead, and each is asked once more at the instants that matter.
func TestC04_NeverBothTrue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		m.Slow(ms)
		var a, b *election.Keeper
		leaders := func() (n int) {
			for _, k := range []*election.Keeper{a, b} {
				if k.IsLeader(bg) == nil {
					n++
				}
			}
			return n
		}
		var ready atomic.Bool
		var both atomic.Int64
		ask := func() {
			if ready.Load() && leaders() > 1 {
				both.Add(1)
			}
		}
		h := &hooks{Store: s}
		h.acquire = func(ctx context.Context, bid election.Bid) (election.Grant, error) {
			defer ask()
			return s.Acquire(ctx, bid)
		}
		h.release = func(ctx context.Context, g election.Grant) (election.Released, error) {
			if ready.Load() && leaders() != 0 {
				t.Error("leading as the release is sent")
			}
			return s.Release(ctx, g)
		}
		ctx, cancel := context.WithCancel(bg)
		a, b = election.Keep(ctx, join(t, h, "a")), election.Keep(ctx, join(t, h, "b"))
		pass(10 * ms)
		ready.Store(true)
		for i, old := 0, election.Token(0); i < 1000; {
			for _, k := range []*election.Keeper{a, b} {
				if term, ok := k.Term(); ok && term.Token() > old {
					old = term.Token()
					i++
					pass(2 * ms) // the other stands by again
					go func() { _ = term.Resign(bg) }()
				}
			}
			pass(100 * time.Microsecond)
			ask()
		}
		if both.Load() != 0 {
			t.Errorf("both led %d times", both.Load())
		}
		cancel()
		<-a.Done()
		<-b.Done()
		wantFree(t, m)
		synctest.Wait()
	})
}

// Random mishaps for many seeds: no two terms are ever valid at once unless
// somebody took the lease by force, tokens grow, and every term is told in order.
func TestRandomMishapsKeepTheInvariants(t *testing.T) {
	for seed := range uint64(60) {
		bubble(t, func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	m := electiontest.NewMemory()
	r := seeded(seed)
	ctx, cancel := context.WithCancel(bg)
	var terms [3]atomic.Pointer[election.Term]
	var done []<-chan error
	var all []*candidate
	var highest atomic.Uint64
	for i := range terms {
		c := join(t, m.Store(), string(rune('a'+i)), func(o *election.Options) { o.Random = seeded(seed*10 + uint64(i)) })
		all = append(all, c)
		done = append(done, runIn(ctx, c, func(ctx context.Context, term *election.Term) error {
			terms[i].Store(term)
			if was := highest.Swap(uint64(term.Token())); was >= uint64(term.Token()) {
				t.Errorf("seed %d: token %d after %d", seed, term.Token(), was)
			}
			<-ctx.Done()
			<-time.After(time.Duration(r()%1000) * ms)
			return nil
		}))
	}
	for range 400 {
		switch d := time.Duration(r() % uint64(ttl)); r() % 24 {
		case 0:
			m.Unreachable(true)
		case 1:
			m.Hang(true)
		case 2:
			m.Slow(d / 2)
		case 3:
			m.LoseReply()
		case 4:
			m.LoseHints(r()%2 == 0)
		case 5:
			m.Wake()
		case 6, 7, 8:
			m.Unreachable(false)
			m.Hang(false)
			m.Slow(0)
		}
		pass(50 * ms)
		valid := 0
		for i := range terms {
			if term := terms[i].Load(); term != nil && term.Valid() {
				valid++
				if l, held := m.Leader(); !held || l.Token != term.Token() {
					t.Fatalf("seed %d: token %d is valid, the store has %d", seed, term.Token(), l.Token)
				}
			}
		}
		if valid > 1 {
			t.Fatalf("seed %d: %d leaders", seed, valid)
		}
	}
	m.Unreachable(false)
	m.Hang(false)
	m.Slow(0)
	cancel()
	for i, d := range done {
		if err := <-d; err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		synctest.Wait()
		wantOrder(t, all[i].events.list())
	}
}

// Whoever is woken by the end of a term whose lease is gone finds it invalid:
// the context is never done first.
func TestLostTermIsInvalidBeforeItsContextIsDone(t *testing.T) {
	for _, end := range []func(*electiontest.Memory, *election.Term){
		func(m *electiontest.Memory, _ *election.Term) { m.Expire(); pass(renew) },
		func(_ *electiontest.Memory, term *election.Term) { _ = term.Resign(bg) },
		func(_ *electiontest.Memory, term *election.Term) { term.Fenced(9) },
	} {
		var early atomic.Int64
		for range 300 {
			bubble(t, func(t *testing.T) {
				m := electiontest.NewMemory()
				term := lead(t, m.Elector(election.Options{TTL: ttl, Logger: quiet(), Random: seeded(1)}))
				for range 20 {
					go func() {
						<-term.Context().Done()
						if term.Valid() {
							early.Add(1)
						}
					}()
				}
				synctest.Wait()
				end(m, term)
				_ = term.Resign(bg)
			})
		}
		if early.Load() > 0 {
			t.Errorf("valid %d times of 6000 after the context was done", early.Load())
		}
	}
}
