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

// Renewals come every 0.85 to 0.95 of the interval, counted from sending to
// sending, and never later than the interval.
func TestRenewalCadence(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(50 * ms)
		c := join(t, m.Store(), "a")
		lead(t, c)
		sent := time.Now().Add(-50 * ms)
		pass(20 * renew)
		renewed := c.events.list(election.Renewed)
		if len(renewed) < 20 {
			t.Fatalf("%d renewals", len(renewed))
		}
		for _, ev := range renewed {
			now := ev.At.Add(-ev.Took)
			if gap := now.Sub(sent); gap < 850*ms || gap > 950*ms {
				t.Errorf("renewed %s after the one before", gap)
			}
			if ev.Took != 50*ms || ev.Lag != 0 || ev.Held != 1 || ev.Masters != 1 || ev.Err != nil || ev.Token != 1 {
				t.Errorf("event %+v", ev)
			}
			sent = now
		}
	})
}

// A grant that took long leaves little time: its first renewal counts from the
// request too, and comes before step-down.
func TestFirstRenewalAfterASlowBid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		c := join(t, &hooks{Store: s, acquire: func(_ context.Context, b election.Bid) (election.Grant, error) {
			g, err := s.Acquire(bg, b)
			<-time.After(2 * time.Second)
			return g, err
		}}, "a")
		term := lead(t, c)
		pass(3 * ttl)
		if !term.Valid() || term.Loss() != nil {
			t.Errorf("lost by %v", term.Loss())
		}
		if ev := c.events.list(election.Renewed)[0]; ev.Lag < 1050*ms || ev.Lag > 1150*ms {
			t.Errorf("the first renewal was %s late, want what the bid took beyond the interval", ev.Lag)
		}
	})
}

// A term that not all masters confirmed is renewed a twentieth of a TTL after
// its request, since a bare majority is one fault away from a rival; from then
// on, and after a full count from the start, the usual interval holds.
func TestFirstRenewalOfABareMajority(t *testing.T) {
	for _, c := range []struct {
		held        int
		every       time.Duration
		first, most time.Duration
	}{
		{3, renew, 850 * ms, 950 * ms},
		{2, renew, ttl / 20, ttl / 20},
		{2, 100 * ms, 100 * ms, 100 * ms}, // never later than the interval
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			s := m.Store()
			h := &hooks{Store: s, acquire: func(ctx context.Context, b election.Bid) (election.Grant, error) {
				g, err := s.Acquire(ctx, b)
				g.Held, g.Masters = c.held, 3
				return g, err
			}}
			cand := join(t, h, "a", func(o *election.Options) { o.Renew = c.every })
			lead(t, cand)
			start := time.Now()
			pass(2 * renew)
			renewed := cand.events.list(election.Renewed)
			if got := renewed[0].At.Sub(start); got < c.first || got > c.most {
				t.Errorf("%d of 3 held: first renewed after %s", c.held, got)
			}
			if got := renewed[1].At.Sub(renewed[0].At); got < c.every*85/100 || got > c.every*95/100 {
				t.Errorf("%d of 3 held: renewed again after %s", c.held, got)
			}
		})
	}
}

// Masters that stay missing are said once, and once when they are back; one
// renewal is given to heal them before that.
func TestMissingMastersAreSaidOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		held := []int{3, 2, 3, 3, 2, 2, 1, 3, 3}
		renewals := 0
		c := join(t, &hooks{Store: s, renew: func(ctx context.Context, g election.Grant) (election.Grant, error) {
			g, err := s.Renew(ctx, g)
			g.Held, g.Masters = held[min(renewals, len(held)-1)], 3
			renewals++
			return g, err
		}}, "a")
		lead(t, c)
		for _, want := range []struct{ renewals, missing, back int }{{4, 0, 0}, {5, 0, 0}, {6, 1, 0}, {7, 1, 0}, {9, 1, 1}, {12, 1, 1}} {
			for c.events.count(election.Renewed) < want.renewals {
				pass(10 * ms)
			}
			missing := c.logs.count("WARN not all masters confirm the lease", "token=1", "held=2", "masters=3")
			back := c.logs.count("INFO all masters confirm again", "token=1", "masters=3")
			if missing != want.missing || back != want.back || c.logs.count("WARN") != missing {
				t.Errorf("after %d renewals:\n%s", want.renewals, c.logs)
			}
		}
	})
}

// A26: with the defaults and 50 ms of latency nothing changes for 10 minutes.
func TestA26_DefaultsAreStable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(50 * ms)
		c := join(t, m.Store(), "a", func(o *election.Options) { o.TTL, o.Renew = 0, 0 })
		term := lead(t, c)
		pass(10 * time.Minute)
		if !term.Valid() || c.events.count(election.TermStopping) != 0 || c.events.count(election.RenewFailed) != 0 {
			t.Errorf("lost by %v", term.Loss())
		}
		if got := c.events.count(election.Renewed); got < 120 || got > 145 {
			t.Errorf("%d renewals in 10 minutes at 5 s", got)
		}
	})
}

func TestA24_OutageShorterThanTheLease(t *testing.T) {
	for name, cut := range map[string]func(*electiontest.Memory, bool){
		"refused": (*electiontest.Memory).Unreachable, "black hole": (*electiontest.Memory).Hang,
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			c := join(t, m.Store(), "a")
			term := lead(t, c)
			pass(ttl)
			cut(m, true)
			pass(4 * ttl / 10)
			cut(m, false)
			pass(3 * ttl)
			if !term.Valid() || term.Loss() != nil {
				t.Errorf("%s: lost by %v", name, term.Loss())
			}
			failed := c.events.list(election.RenewFailed)
			if len(failed) == 0 {
				t.Fatalf("%s: no failed renewal reported", name)
			}
			wantIs(t, failed[0].Err, election.ErrUnreachable)
			if c.logs.count("WARN") != 0 {
				t.Errorf("%s: log:\n%s", name, c.logs)
			}
		})
	}
}

// A store's own note comes back to it with each renewal and with the release.
func TestStateGoesBackToTheStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		want := 0
		expect := func(g election.Grant) {
			if g.State != want {
				t.Errorf("state %v, want %d", g.State, want)
			}
		}
		h := &hooks{Store: s}
		h.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
			g, err := s.Acquire(ctx, b)
			g.State = want
			return g, err
		}
		h.renew = func(ctx context.Context, g election.Grant) (election.Grant, error) {
			expect(g)
			g, err := s.Renew(ctx, g)
			if err == nil {
				want++
				g.State = want
			}
			return g, err
		}
		h.release = func(ctx context.Context, g election.Grant) (election.Released, error) {
			expect(g)
			return s.Release(ctx, g)
		}
		term := lead(t, join(t, h, "a"))
		pass(ttl)
		if err := term.Resign(bg); err != nil || want < 3 {
			t.Errorf("%v after %d renewals", err, want)
		}
	})
}

// Trouble that has passed is not the reason of a later loss.
func TestTroubleIsForgottenAfterARenewal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		clock := &jumpClock{}
		c := join(t, m.Store(), "a", func(o *election.Options) { o.Clock = clock })
		term := lead(t, c)
		m.Unreachable(true)
		pass(renew)
		m.Unreachable(false)
		pass(renew)
		clock.jump(ttl)
		if term.Context().Err() == nil {
			t.Fatal("not over")
		}
		wantLoss(t, term.Context(), election.ErrExpired, "expired")
	})
}

// Each try is bounded so that one silence does not use up the lease.
func TestTriesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		var tries []time.Duration
		var left []time.Duration
		var led atomic.Pointer[election.Term]
		c := join(t, &hooks{Store: s, renew: func(ctx context.Context, g election.Grant) (election.Grant, error) {
			tries, left = append(tries, time.Until(deadlineOf(ctx))), append(left, led.Load().Remaining())
			return s.Renew(ctx, g)
		}}, "a")
		led.Store(lead(t, c))
		m.Hang(true)
		pass(2 * ttl)
		if len(tries) < 4 {
			t.Fatalf("only %d tries before the deadline: %s", len(tries), tries)
		}
		for i, got := range tries {
			if want := election.TryTimeout(left[i], ttl); got != want {
				t.Errorf("try %d may take %s with %s left, want %s", i, got, left[i], want)
			}
		}
	})
}

func TestA23_RenewerSurvivesTrouble(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		term := lead(t, c)
		m.Unreachable(true)
		for c.events.count(election.RenewFailed) == 0 {
			pass(100 * ms)
		}
		m.Unreachable(false)
		if err := term.Resign(bg); err != nil {
			t.Fatal(err)
		}
		again := lead(t, c)
		before := c.events.count(election.Renewed)
		for range 50 {
			pass(5 * ttl / 50)
			if l, held := m.Leader(); !held || l.Left < ttl/3 || l.Token != again.Token() {
				t.Fatalf("the store has %+v", l)
			}
		}
		if got := c.events.count(election.Renewed) - before; got < 10 || !again.Valid() {
			t.Errorf("%d renewals in 5 TTL", got)
		}
	})
}

// The work needs long to stop: the lease is renewed for Grace, no longer.
func TestGraceProtectsWorkThatIsStopping(t *testing.T) {
	for _, c := range []struct{ grace, until time.Duration }{
		{0, ttl},                           // zero means TTL
		{2 * time.Second, 2 * time.Second}, // shorter
		{4 * ttl, 4 * ttl},                 // longer
		{-1, 0},                            // none at all
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			a := join(t, m.Store(), "a", func(o *election.Options) { o.Grace = c.grace })
			ctx, cancel := context.WithCancel(bg)
			stopped := make(chan struct{})
			done := runIn(ctx, a, func(ctx context.Context, _ *election.Term) error { <-stopped; return nil })
			pass(ttl)
			term, _ := m.Leader()
			cancel()
			synctest.Wait()
			stop := time.Now()
			pass(10 * ttl)
			last := stop
			for _, ev := range a.events.list(election.Renewed) {
				if ev.At.After(stop) {
					last = ev.At
				}
			}
			if got := last.Sub(stop); got > c.until || got < c.until-renew {
				t.Errorf("grace %s: renewed until %s after the stop, want %s", c.grace, got, c.until)
			}
			ended := a.events.last(t, election.TermEnded)
			if got := ended.At.Sub(stop); got > c.until+ttl || got < c.until {
				t.Errorf("grace %s: valid until %s after the stop", c.grace, got)
			}
			wantIs(t, ended.Err, election.ErrResigned, context.Canceled)
			wantFree(t, m)
			close(stopped)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if term.Token != 1 {
				t.Errorf("token %d", term.Token)
			}
		})
	}
}

// A renewal that succeeds after step-down protects the work, and no more: the
// context stays done.
func TestStepDownIsForGood(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.StepDown = ttl / 3 })
		term := lead(t, c)
		m.Unreachable(true)
		<-term.Context().Done()
		first := term.Deadline()
		m.Unreachable(false)
		pass(renew)
		if !term.Valid() || !term.Deadline().After(first) {
			t.Errorf("not protected: valid %v", term.Valid())
		}
		wantLoss(t, term.Context(), election.ErrLostContact, "unreachable")
		pass(2 * ttl)
		if term.Valid() {
			t.Error("renewed for longer than Grace")
		}
	})
}

// A31: work that hangs for good does not lead for ever.
func TestA31_HungLeaderIsReplaced(t *testing.T) {
	sick := errors.New("queue is stuck")
	for name, c := range map[string]struct {
		change func(*election.Options)
		reason error
		word   string
		level  string
		after  time.Duration
	}{
		"health": {func(o *election.Options) { o.Health = func(context.Context) error { return sick } },
			election.ErrUnhealthy, "unhealthy", "WARN", renew},
		"no answer": {func(o *election.Options) {
			o.Health = func(ctx context.Context) error { <-ctx.Done(); return nil }
		}, election.ErrUnhealthy, "unhealthy", "WARN", 2 * renew},
		"panic": {func(o *election.Options) { o.Health = func(context.Context) error { panic("health") } },
			election.ErrUnhealthy, "unhealthy", "WARN", renew},
		"exit": {func(o *election.Options) { o.Health = func(context.Context) error { runtime.Goexit(); return nil } },
			election.ErrUnhealthy, "unhealthy", "WARN", 2 * renew},
		"max term": {func(o *election.Options) { o.MaxTerm = 5 * time.Second },
			election.ErrMaxTerm, "max-term", "INFO", 5*time.Second + renew},
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			a := join(t, m.Store(), "a", c.change)
			b := join(t, m.Store(), "b")
			hung := make(chan struct{})
			var led atomic.Pointer[election.Term]
			done := runIn(bg, a, func(_ context.Context, term *election.Term) error {
				led.Store(term)
				<-hung
				return nil
			})
			synctest.Wait()
			start := time.Now()
			out := campaignIn(bg, b)
			term := led.Load()
			<-term.Context().Done()
			if took := time.Since(start); took > c.after {
				t.Errorf("%s: stopped after %s", name, took)
			}
			wantLoss(t, term.Context(), c.reason, c.word)
			stopped := time.Now()
			o := <-out
			// Protected for Grace, a TTL, and then until the lease ends.
			if o.err != nil || o.at.Sub(stopped) < ttl+renew || o.at.Sub(stopped) > 2*ttl+renew {
				t.Errorf("%s: replaced %s after the stop: %v", name, o.at.Sub(stopped), o.err)
			}
			if term.Valid() {
				t.Errorf("%s: two leaders", name)
			}
			if a.logs.count(c.level+" leadership ended", "reason="+c.word) != 1 {
				t.Errorf("%s: log:\n%s", name, a.logs)
			}
			if err := a.Close(canceledContext()); err == nil {
				t.Errorf("%s: Close did not wait for the work", name)
			}
			close(hung)
			wantIs(t, <-done, election.ErrClosed)
		})
	}
}

func canceledContext() context.Context {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	return ctx
}

// Health is asked once an interval while leading, before the try and not
// again for its repetitions, and never once the term is stopping.
func TestHealthIsAskedWhileLeading(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		var asked, dead atomic.Int64
		var last atomic.Value
		c := join(t, m.Store(), "a", func(o *election.Options) {
			o.MaxTerm = 10 * time.Second
			o.Grace = 4 * ttl
			o.Health = func(ctx context.Context) error {
				asked.Add(1)
				if ctx.Err() != nil {
					dead.Add(1)
				}
				last.Store(&ctx)
				return nil
			}
		})
		term := lead(t, c)
		m.Unreachable(true)
		pass(renew + renew/2)
		m.Unreachable(false)
		if got := asked.Load(); got != 1 {
			t.Errorf("asked %d times for one interval", got)
		}
		if ctx := *last.Load().(*context.Context); ctx.Err() == nil {
			t.Error("the context of a check outlives it")
		}
		<-term.Context().Done()
		synctest.Wait()
		before, renewals := asked.Load(), c.events.count(election.Renewed)
		if before < 8 || before > 12 {
			t.Errorf("asked %d times in 10 s", before)
		}
		pass(2 * ttl)
		if c.events.count(election.Renewed) == renewals {
			t.Fatal("no renewal in the grace")
		}
		if asked.Load() != before || dead.Load() != 0 {
			t.Errorf("asked %d times after the stop, %d times with a context that was done", asked.Load()-before, dead.Load())
		}
	})
}

// A health check that hangs does not delay a renewal, and its own context ends.
func TestSlowHealthDelaysNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) {
			o.Health = func(ctx context.Context) error {
				select {
				case <-time.After(renew * 8 / 10):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		term := lead(t, c)
		pass(5 * ttl)
		for _, ev := range c.events.list(election.Renewed) {
			if ev.Lag != 0 {
				t.Errorf("a renewal was %s late", ev.Lag)
			}
		}
		if !term.Valid() || term.Loss() != nil {
			t.Errorf("lost by %v", term.Loss())
		}
	})
}

// A term that ends by itself stops a health check in flight, and that is not
// reported as a reason.
func TestHealthInFlightWhenTheTermEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		asked := make(chan struct{}, 10)
		c := join(t, m.Store(), "a", func(o *election.Options) {
			o.Health = func(ctx context.Context) error { asked <- struct{}{}; <-ctx.Done(); return ctx.Err() }
		})
		term := lead(t, c)
		<-asked
		if err := term.Resign(bg); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantLoss(t, term.Context(), election.ErrResigned, "resigned")
	})
}

func TestMaxTermMovesLeadershipOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		leads := map[string]int{}
		ctx, cancel := context.WithCancel(bg)
		var done []<-chan error
		for _, id := range []string{"a", "b"} {
			c := join(t, m.Store(), id, func(o *election.Options) { o.MaxTerm = 10 * time.Second })
			done = append(done, runIn(ctx, c, func(ctx context.Context, _ *election.Term) error {
				leads[id]++ // one leads at a time
				return untilDone(ctx, nil)
			}))
		}
		pass(2 * time.Minute)
		cancel()
		for _, d := range done {
			if err := <-d; err != nil {
				t.Error(err)
			}
		}
		if leads["a"] < 5 || leads["b"] < 5 {
			t.Errorf("terms: %v", leads)
		}
	})
}

// F09: an observer that sleeps for 10 TTL does not change when renewals come.
func TestF09_SlowObserverDelaysNothing(t *testing.T) {
	cadence := func(observe func(election.Event)) (at []time.Duration) {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			s := m.Store()
			start := time.Now()
			c := join(t, &hooks{Store: s, renew: func(ctx context.Context, g election.Grant) (election.Grant, error) {
				at = append(at, time.Since(start))
				return s.Renew(ctx, g)
			}}, "a", func(o *election.Options) { o.Observer = observe })
			lead(t, c)
			pass(10 * ttl)
			if err := c.Close(bg); err != nil {
				t.Error(err)
			}
			pass(100 * 10 * ttl) // until all is told
		})
		return at
	}
	quick := cadence(nil)
	slow := cadence(func(election.Event) { <-time.After(10 * ttl) })
	if len(quick) < 30 || len(quick) != len(slow) {
		t.Fatalf("%d renewals without, %d with a slow observer", len(quick), len(slow))
	}
	for i := range quick {
		if quick[i] != slow[i] {
			t.Fatalf("renewal %d came at %s instead of %s", i, slow[i], quick[i])
		}
	}
}

// F10: a loss in the background goes to whoever asks, and nowhere else.
func TestF10_LossReachesTheCallerOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.Observer = nil })
		term := lead(t, c)
		broken := errors.New("broken pipe")
		m.Fail(broken, electiontest.OpRenew)
		<-term.Context().Done()
		wantIs(t, context.Cause(term.Context()), broken, election.ErrRefused)
	})
}
