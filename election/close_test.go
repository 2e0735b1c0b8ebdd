package election_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func TestCloseGivesATermBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		term := lead(t, c)
		for range 2 { // F06
			if err := c.Close(bg); err != nil {
				t.Error(err)
			}
		}
		if term.Valid() {
			t.Error("valid after Close")
		}
		wantLoss(t, term.Context(), election.ErrResigned, "resigned")
		wantFree(t, m)
	})
}

// F06: Close many times, at once and together with a loss.
func TestF06_ConcurrentCloseAndLoss(t *testing.T) {
	for range 200 {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			c := join(t, m.Store(), "a")
			done := runIn(bg, c, untilDone)
			pass(renew / 2)
			m.Expire()
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					<-time.After(renew * 4 / 10) // about when the renewal finds out
					if err := c.Close(bg); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			wantIs(t, <-done, election.ErrClosed)
			wantFree(t, m)
			synctest.Wait()
			wantOrder(t, c.events.list())
		})
	}
}

// Close tells the work to stop, waits for it, and the lease is renewed until
// then.
func TestCloseWaitsForTheWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.Grace = 5 * ttl })
		stopped := make(chan struct{})
		done := runIn(bg, c, func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			wantLoss(t, ctx, election.ErrResigned, "resigned")
			<-stopped
			return nil
		})
		synctest.Wait()
		impatient, cancel := context.WithTimeout(bg, ttl)
		defer cancel()
		wantIs(t, c.Close(impatient), context.DeadlineExceeded)
		pass(2 * ttl)
		if _, held := m.Leader(); !held {
			t.Error("the lease went while the work was stopping")
		}
		closed := make(chan error, 1)
		go func() { closed <- c.Close(bg) }()
		synctest.Wait()
		if len(closed) != 0 {
			t.Error("Close did not wait")
		}
		close(stopped)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		wantIs(t, <-done, election.ErrClosed)
		wantFree(t, m)
	})
}

func TestCloseReportsAFailedRelease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		lead(t, c)
		broken := errors.New("broken")
		m.Fail(broken, electiontest.OpRelease)
		err := c.Close(bg)
		wantIs(t, err, broken)
		if err.Error() != "close: resign: broken" {
			t.Errorf("text %q", err)
		}
		m.Fail(nil)
		if err := c.Close(bg); err != nil {
			t.Errorf("second try: %v", err)
		}
		wantFree(t, m)
	})
}

// A term that had lapsed, or was lost, is no failure of Close, and keeps its
// own reason.
func TestCloseOfALostTerm(t *testing.T) {
	for name, mishap := range map[string]func(*electiontest.Memory){
		"deleted": (*electiontest.Memory).Expire, "taken": func(m *electiontest.Memory) { m.StealBy("thief") },
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			c := join(t, m.Store(), "a")
			lead(t, c)
			mishap(m)
			if err := c.Close(bg); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	bubble(t, func(t *testing.T) {
		clock := &jumpClock{}
		c := join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = clock })
		term := lead(t, c)
		clock.jump(ttl)
		if err := c.Close(bg); err != nil {
			t.Error(err)
		}
		wantLoss(t, term.Context(), election.ErrExpired, "expired")
	})
}

// Close waits for bids in flight, for the renewer and for what the store does
// in the background, each at most until its context ends.
func TestCloseWaitsForEverything(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := &stall{}
		c := join(t, s.store(m), "a")
		term := lead(t, c)
		m.Expire()
		pass(renew)
		_ = term.Resign(bg)
		m.Slow(time.Second)
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, _ = c.Campaign(ctx) // leaves a bid behind
		wantIs(t, c.Close(canceledContext()), context.Canceled)
		start := time.Now()
		if err := c.Close(bg); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 1900*ms { // the bid's answer, and its release
			t.Errorf("closed after %s", took)
		}
		wantFree(t, m)
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		m.LoseReply(electiontest.OpAcquire)
		m.Slow(100 * ms)
		c := join(t, m.Store(), "a")
		out := campaignIn(bg, c)
		pass(110 * ms)
		start := time.Now()
		if err := c.Close(bg); err != nil {
			t.Error(err)
		}
		wantIs(t, (<-out).err, election.ErrClosed)
		if took := time.Since(start); took != 90*ms {
			t.Errorf("closed after %s: the store had not settled", took)
		}
	})
}

func TestUnusedElectorCloses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := join(t, electiontest.NewMemory().Store(), "a")
		if err := c.Close(bg); err != nil {
			t.Error(err)
		}
		if len(c.events.list()) != 0 {
			t.Errorf("events %v", c.events.list())
		}
	})
}

func TestCloseWaitsForAnAbandonedBid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(time.Second)
		c := join(t, m.Store(), "a")
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, _ = c.Campaign(ctx)
		err := c.Close(ctx)
		wantIs(t, err, context.DeadlineExceeded)
		if err.Error() != "close: context deadline exceeded" {
			t.Errorf("text %q", err)
		}
		if err := c.Close(bg); err != nil {
			t.Error(err)
		}
		wantFree(t, m)
	})
}

// Close in the very instant in which a bid is made, or wins: a term or
// ErrClosed, never both, and no lease is left behind either way.
func TestCloseInTheInstantOfABid(t *testing.T) {
	for _, slow := range []time.Duration{0, ms} {
		led, closed := 0, 0
		for range 3000 {
			bubble(t, func(t *testing.T) {
				m := electiontest.NewMemory()
				m.Slow(slow)
				e := m.Elector(election.Options{ID: "a", TTL: ttl, Logger: quiet(), Random: seeded(1)})
				out := campaignIn(bg, e)
				if slow > 0 {
					<-time.After(slow)
				}
				if err := e.Close(bg); err != nil {
					t.Error(err)
				}
				switch o := <-out; {
				case errors.Is(o.err, election.ErrClosed):
					closed++
				case o.err != nil || o.term.Valid():
					t.Errorf("%v, and the term is %v", o.err, o.term)
				default:
					led++
				}
				wantFree(t, m)
			})
		}
		if closed == 0 || slow > 0 && led == 0 {
			t.Errorf("after %s: %d led, %d were closed: it was no race", slow, led, closed)
		}
	}
}

// A caller that gives up as its bid wins does not wait for the release.
func TestGivingUpDoesNotWaitForTheRelease(t *testing.T) {
	for range 200 {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			s := m.Store()
			c := join(t, &hooks{Store: s, release: func(ctx context.Context, g election.Grant) (election.Released, error) {
				<-time.After(time.Second)
				return s.Release(ctx, g)
			}}, "a")
			m.Slow(ms)
			ctx, cancel := context.WithTimeout(bg, ms)
			defer cancel()
			start := time.Now()
			if _, err := c.Campaign(ctx); err != nil && time.Since(start) != ms {
				t.Fatalf("gave up after %s", time.Since(start))
			}
			if err := c.Close(bg); err != nil {
				t.Error(err)
			}
			wantFree(t, m)
		})
	}
}
