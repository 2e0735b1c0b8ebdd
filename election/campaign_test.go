package election_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func TestCampaignWinsAFreeLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		term := lead(t, c)
		if !term.Valid() || term.Context().Err() != nil || term.Loss() != nil || term.Token() != 1 {
			t.Errorf("valid %v, context %v, loss %v, token %d", term.Valid(), term.Context().Err(), term.Loss(), term.Token())
		}
		if got := term.Remaining(); got != ttl-election.Drift(ttl) {
			t.Errorf("%s remain", got)
		}
		synctest.Wait()
		ev := c.events.last(t, election.TermStarted)
		if ev.Token != 1 || ev.Held != 1 || ev.Masters != 1 || !ev.Deadline.Equal(term.Deadline()) || !ev.At.Equal(time.Now()) {
			t.Errorf("event %+v", ev)
		}
		if got := c.events.count(election.CampaignStarted); got != 1 {
			t.Errorf("%d campaigns reported", got)
		}
		if c.logs.count("INFO leading token=1") != 1 {
			t.Errorf("log:\n%s", c.logs)
		}
	})
}

func TestCampaignWhileLeadingIsErrHeld(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := join(t, electiontest.NewMemory().Store(), "a")
		term := lead(t, c)
		if _, err := c.Campaign(bg); !errors.Is(err, election.ErrHeld) {
			t.Errorf("second campaign: %v", err)
		}
		if !term.Valid() {
			t.Error("the term suffered")
		}
		if err := term.Resign(bg); err != nil {
			t.Fatal(err)
		}
		if again := lead(t, c); again.Token() <= term.Token() {
			t.Errorf("token %d after %d", again.Token(), term.Token())
		}
	})
}

func TestSecondCallerWaitsForTheFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := join(t, m.Store(), "a")
		first := campaignIn(bg, c)
		synctest.Wait()
		ctx, cancel := context.WithCancel(bg)
		second, third := campaignIn(ctx, c), campaignIn(bg, c)
		synctest.Wait()
		if got := m.Calls(electiontest.OpAcquire); got != 1 {
			t.Errorf("%d bids by three callers, want 1", got)
		}
		cancel()
		wantIs(t, (<-second).err, election.ErrNotAcquired, context.Canceled)
		m.Free()
		if o := <-first; o.err != nil {
			t.Fatal(o.err)
		}
		wantIs(t, (<-third).err, election.ErrHeld)
	})
}

func TestH05_CallersInOneProcessCollapse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := join(t, m.Store(), "a")
		ctx, cancel := context.WithTimeout(bg, ttl)
		defer cancel()
		var wg sync.WaitGroup
		var wrong atomic.Int64
		for range 5000 {
			wg.Go(func() {
				_, err := c.Campaign(ctx)
				if !errors.Is(err, election.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
					wrong.Add(1)
				}
			})
		}
		wg.Wait()
		if wrong.Load() != 0 || time.Now().Before(deadlineOf(ctx)) {
			t.Errorf("%d of 5000 got another error", wrong.Load())
		}
		if got := m.Calls(electiontest.OpAcquire); got > 2 {
			t.Errorf("%d bids in one TTL, want at most 2", got)
		}
	})
}

func deadlineOf(ctx context.Context) time.Time {
	d, _ := ctx.Deadline()
	return d
}

func TestA20_ErrorIdentity(t *testing.T) {
	type custom struct{ error }
	why := custom{errors.New("shutting down")}
	canceled, cancel := context.WithCancelCause(bg)
	cancel(why)
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := join(t, m.Store(), "a")

		_, err := c.Campaign(canceled)
		wantIs(t, err, election.ErrNotAcquired, context.Canceled, why)
		if m.Calls(electiontest.OpAcquire) != 0 {
			t.Error("a bid was made for a caller that had gone")
		}

		start := time.Now()
		ctx, cancel := context.WithTimeout(bg, 300*ms)
		defer cancel()
		_, err = c.Campaign(ctx)
		wantIs(t, err, election.ErrNotAcquired, context.DeadlineExceeded)
		var held *election.HeldError
		if !errors.As(err, &held) || held.Holder.ID != "other" {
			t.Errorf("%v does not tell who holds the lease", err)
		}
		if took := time.Since(start); took != 300*ms {
			t.Errorf("gave up after %s", took)
		}
		const want = `leadership not acquired: context deadline exceeded: last try: held by "other" (token 1) for another 15s`
		if err.Error() != want {
			t.Errorf("text is\n%s, want\n%s", err, want)
		}
	})
}

// The last failure of a master is told also when it was a time-out like the
// campaign's own, and when the campaign ended in the middle of a bid.
func TestA20_TheMastersFailureIsNotSwallowed(t *testing.T) {
	for name, limit := range map[string]time.Duration{"between bids": 5*time.Second + 20*ms, "in a bid": 6 * time.Second} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			m.Hang(true)
			c := join(t, m.Store(), "a", func(o *election.Options) { o.TTL, o.Renew = 15*time.Second, 0 })
			ctx, cancel := context.WithTimeout(bg, limit)
			defer cancel()
			_, err := c.Campaign(ctx)
			wantIs(t, err, election.ErrNotAcquired, context.DeadlineExceeded, election.ErrUnreachable)
			var master *election.MasterError
			if !errors.As(err, &master) || master.Master != "memory" {
				t.Errorf("%s: %v names no master", name, err)
			}
		})
	}
}

func TestClosedElectorDoesNotCampaign(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := join(t, m.Store(), "a")
		running, queued := campaignIn(bg, c), campaignIn(bg, c)
		synctest.Wait()
		if err := c.Close(bg); err != nil {
			t.Fatal(err)
		}
		for _, ch := range []<-chan outcome{running, queued, campaignIn(bg, c)} {
			if o := <-ch; !errors.Is(o.err, election.ErrClosed) {
				t.Errorf("campaign of a closed elector: %v", o.err)
			}
		}
	})
}

func TestClosedInTheMiddleOfABid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(100 * ms)
		c := join(t, m.Store(), "a")
		out := campaignIn(bg, c)
		pass(50 * ms)
		closed := make(chan error)
		go func() { closed <- c.Close(bg) }()
		if o := <-out; !errors.Is(o.err, election.ErrClosed) || time.Since(o.at) != 0 {
			t.Errorf("campaign: %v", o.err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		wantFree(t, m) // Close waited for what the bid had won
		synctest.Wait()
		if wantOrder(t, c.events.list()) != 0 {
			t.Error("a bid that was abandoned became a term")
		}
	})
}

// A bid whose caller has gone is given back once its answer is in: never
// before it, and not only when it expires.
func TestA11_AbandonedBidIsReleased(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(200 * ms)
		c, rival := join(t, m.Store(), "a"), join(t, m.Store(), "b")
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, err := c.Campaign(ctx)
		wantIs(t, err, election.ErrNotAcquired, context.DeadlineExceeded)
		if _, held := m.Leader(); !held {
			t.Fatal("the bid had not arrived")
		}
		if m.Calls(electiontest.OpRelease) != 0 {
			t.Error("the release overtook the acquire")
		}
		start := time.Now()
		lead(t, rival)
		if waited := time.Since(start); waited > time.Second {
			t.Errorf("the rival waited %s, want no more than two wake-ups", waited)
		}
	})
}

// The answer is lost, so that the bid is not known to have won; the store
// undoes it, and a rival need not wait for the TTL.
func TestA11_LostReplyLeavesNoOrphan(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.LoseReply(electiontest.OpAcquire)
		c := join(t, m.Store(), "a")
		start := time.Now()
		term := lead(t, c)
		if waited := time.Since(start); waited > time.Second {
			t.Errorf("leaderless for %s after one lost reply", waited)
		}
		if term.Token() != 2 {
			t.Errorf("token %d, want 2: the first one was burnt", term.Token())
		}
	})
}

// A client that hides a retry asks twice for the same bid, and does not lose
// to itself.
func TestA12_HiddenRetryDoesNotLoseToItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		c := join(t, &hooks{Store: s, acquire: func(ctx context.Context, b election.Bid) (election.Grant, error) {
			if _, err := s.Acquire(ctx, b); err != nil {
				return election.Grant{}, err
			}
			return s.Acquire(ctx, b)
		}}, "a")
		if term := lead(t, c); term.Token() != 1 {
			t.Errorf("token %d, want that of the first try", term.Token())
		}
	})
}

// A late clean-up of a loser does not touch the winner.
func TestA33_LosersCleanUpSparesTheWinner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		c := join(t, &hooks{Store: s, release: func(ctx context.Context, g election.Grant) (election.Released, error) {
			m.Expire()
			m.StealBy("winner")
			return s.Release(ctx, g)
		}}, "a")
		m.Slow(200 * ms)
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, _ = c.Campaign(ctx)
		pass(2 * time.Second)
		if l, held := m.Leader(); !held || l.ID != "winner" {
			t.Errorf("the winner lost its lease: %+v", l)
		}
		if c.logs.count("DEBUG unused lease not given back", "winner") != 1 {
			t.Errorf("log:\n%s", c.logs)
		}
	})
}

// R1: the grant is judged when its answer is handled.
func TestA06_GrantedTooLate(t *testing.T) {
	limit := ttl - election.Drift(ttl) - ttl/10
	for _, c := range []struct {
		took time.Duration
		won  bool
	}{{limit - ms, true}, {limit, false}, {ttl, false}} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			s := m.Store()
			slow := &hooks{Store: s, acquire: func(_ context.Context, b election.Bid) (election.Grant, error) {
				g, err := s.Acquire(bg, b)
				<-time.After(c.took)
				return g, err
			}}
			cand := join(t, slow, "a")
			ctx, cancel := context.WithTimeout(bg, c.took+10*ms)
			defer cancel()
			term, err := cand.Campaign(ctx)
			if (err == nil) != c.won {
				t.Fatalf("granted after %s: %v", c.took, err)
			}
			if c.won {
				synctest.Wait() // it is renewed at once, too
				ev := cand.events.last(t, election.TermStarted)
				if got, want := ev.Deadline.Sub(ev.At), ttl/10+ms; got != want || !term.Valid() {
					t.Errorf("%s remained, want %s", got, want)
				}
				return
			}
			wantIs(t, err, election.ErrNotAcquired, election.ErrTooSlow)
			if !strings.Contains(err.Error(), c.took.String()) || !strings.Contains(err.Error(), ttl.String()) {
				t.Errorf("%q names neither time nor TTL", err)
			}
			pass(c.took + ms) // another bid is on its way by now
			wantFree(t, m)
			wantIs(t, cand.events.last(t, election.BidRefused).Err, election.ErrTooSlow)
			if wantOrder(t, cand.events.list()) != 0 {
				t.Error("a term started")
			}
		})
	}
}

// Bids that come too late over and over are one line, whatever time each took.
func TestTooSlowIsSaidOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		took := ttl
		c := join(t, &hooks{Store: s, acquire: func(_ context.Context, b election.Bid) (election.Grant, error) {
			g, err := s.Acquire(bg, b)
			took += 7 * ms
			<-time.After(took)
			return g, err
		}}, "a")
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		_, _ = c.Campaign(ctx)
		if got := c.logs.count("WARN"); got != 1 {
			t.Errorf("%d warnings:\n%s", got, c.logs)
		}
	})
}

func TestA18_StoreDownAtStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Unreachable(true)
		c := join(t, m.Store(), "a")
		out := campaignIn(bg, c)
		pass(time.Second)
		tries := m.Calls(electiontest.OpAcquire)
		if tries < 2 || tries > 12 {
			t.Errorf("%d tries in a second of outage", tries)
		}
		m.Unreachable(false)
		back := time.Now()
		o := <-out
		if o.err != nil {
			t.Fatal(o.err)
		}
		if waited := o.at.Sub(back); waited > 2*time.Second {
			t.Errorf("won %s after the store was back", waited)
		}
		if c.logs.count("WARN cannot acquire, trying on", "memory", "unreachable") != 1 {
			t.Errorf("log:\n%s", c.logs)
		}
	})
}

// While a store is down for long, tries grow apart, but never by more than 1 s.
func TestBackoffOfABrokenStore(t *testing.T) {
	for _, long := range []time.Duration{ttl, time.Minute} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			s := m.Store()
			var at []time.Time
			c := join(t, &hooks{Store: s, acquire: func(ctx context.Context, b election.Bid) (election.Grant, error) {
				at = append(at, time.Now())
				return s.Acquire(ctx, b)
			}}, "a", func(o *election.Options) { o.TTL, o.Renew = long, 0 })
			m.Unreachable(true)
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			_, _ = c.Campaign(ctx)
			first := min(long/20, time.Second)
			most := min(8*long/20, time.Second)
			for i := 1; i < len(at); i++ {
				gap := at[i].Sub(at[i-1])
				if want := min(first<<min(i-1, 3), most); gap < want/2 || gap > want {
					t.Fatalf("TTL %s: pause %d is %s, want %s to %s", long, i, gap, want/2, want)
				}
			}
			if len(at) < 60 {
				t.Errorf("only %d tries in a minute", len(at))
			}
		})
	}
}

func TestTroubleIsSaidOnChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := join(t, m.Store(), "a", func(o *election.Options) { o.TTL, o.Renew = 15*time.Second, 0 })
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		out := campaignIn(ctx, c)
		pass(ms)
		mishap := func(kind error, text string) {
			m.Fail(&election.MasterError{Master: "m1", Op: "acquire", Kind: kind, Err: errors.New(text)})
			m.Wake()
			pass(3 * time.Second)
		}
		mishap(election.ErrLoading, "LOADING 1")
		mishap(election.ErrLoading, "LOADING 2")
		mishap(election.ErrReadOnly, "READONLY")
		m.Fail(nil)
		pass(3 * time.Second)
		for _, want := range []struct {
			n     int
			parts []string
		}{
			{2, []string{"WARN"}},
			{1, []string{"WARN cannot acquire, trying on", "store loading"}},
			{1, []string{"WARN cannot acquire, trying on", "read-only replica"}},
			{1, []string{"INFO store answers again"}},
		} {
			if got := c.logs.count(want.parts...); got != want.n {
				t.Errorf("%d lines with %q, want %d:\n%s", got, want.parts, want.n, c.logs)
			}
		}
		cancel()
		<-out
	})
}

func TestPermanentTroubleEndsTheCampaign(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Fail(&election.MasterError{Master: "m1", Op: "acquire", Kind: election.ErrServerTooOld})
		c := join(t, m.Store(), "a")
		_, err := c.Campaign(bg)
		wantIs(t, err, election.ErrNotAcquired, election.ErrServerTooOld)
		if !election.Permanent(err) {
			t.Errorf("%v does not say that it is permanent", err)
		}
		wantIs(t, election.Run(bg, c, untilDone), election.ErrServerTooOld)
		synctest.Wait()
		if got := c.events.count(election.BidRefused); got != 2 {
			t.Errorf("%d refusals reported, want one a campaign", got)
		}
	})
}

// A standby looks once at first, then when the lease can be free: it is
// neither early, nor more than a few milliseconds late.
func TestStandbySleepsUntilTheLeaseCanBeFree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.TTL, o.Renew = 15*time.Second, 0 })
		m.StealBy("other")
		start := time.Now()
		lead(t, c)
		if waited := time.Since(start) - 15*time.Second; waited < ms || waited > 6*ms {
			t.Errorf("won %s after the lease ended", waited)
		}
		if got := m.Calls(electiontest.OpAcquire); got != 2 {
			t.Errorf("%d bids, want 2", got)
		}
	})
}

func TestReleaseWakesAStandby(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		leader, standby := join(t, m.Store(), "a"), join(t, m.Store(), "b")
		term := lead(t, leader)
		out := campaignIn(bg, standby)
		pass(100 * ms)
		if err := term.Resign(bg); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		if o := <-out; o.err != nil || !o.at.Equal(now) {
			t.Errorf("%v after %s", o.err, o.at.Sub(now))
		}
	})
}

// Being woken wins nothing: the standby asks, and loses to whoever was faster.
func TestWokenStandbyMustAcquire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		out := campaignIn(ctx, c)
		synctest.Wait()
		for range 3 {
			m.Wake()
			synctest.Wait()
		}
		if got := m.Calls(electiontest.OpAcquire); got != 4 {
			t.Errorf("%d bids after 3 wake-ups, want 4", got)
		}
		if got := m.Calls(electiontest.OpListen); got != 1 {
			t.Errorf("%d subscriptions, want 1", got)
		}
		cancel()
		wantIs(t, (<-out).err, election.ErrNotAcquired)
		synctest.Wait()
		if got := m.Listeners(); got != 0 {
			t.Errorf("%d subscriptions outlive their campaign", got)
		}
	})
}

// With wake-ups lost, or not to be had, a standby still looks about once a TTL,
// even if the leader's lease is longer than its own.
func TestFallbackWhenWakeUpsAreLost(t *testing.T) {
	for name, listen := range map[string]func(context.Context) (<-chan struct{}, error){
		"lost":    nil,
		"refused": func(context.Context) (<-chan struct{}, error) { return nil, errors.New("no channel permission") },
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			m.LoseHints(true)
			leader := join(t, m.Store(), "a", func(o *election.Options) { o.TTL, o.Renew = time.Minute, 0 })
			standby := join(t, &hooks{Store: m.Store(), listen: listen}, "b")
			term := lead(t, leader)
			out := campaignIn(bg, standby)
			pass(10 * ttl)
			if got := m.Calls(electiontest.OpAcquire) - 1; got < 9 || got > 14 {
				t.Errorf("%s: %d looks in 10 TTL", name, got)
			}
			if err := term.Resign(bg); err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			if o := <-out; o.err != nil || o.at.Sub(now) > ttl+10*ms {
				t.Errorf("%s: %v after %s", name, o.err, o.at.Sub(now))
			}
		})
	}
}

// A refusal that does not know how long the lease lasts is asked again in a TTL.
func TestRefusalWithoutTimeLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		calls := 0
		c := join(t, &hooks{Store: m.Store(), acquire: func(context.Context, election.Bid) (election.Grant, error) {
			calls++
			return election.Grant{}, &election.HeldError{}
		}}, "a")
		m.LoseHints(true)
		ctx, cancel := context.WithTimeout(bg, 10*ttl+ms)
		defer cancel()
		_, err := c.Campaign(ctx)
		if calls != 11 {
			t.Errorf("%d tries in 10 TTL: %v", calls, err)
		}
	})
}

// Split votes are tried again soon, further apart the more often they split,
// and never more than a quarter of a TTL apart.
func TestSplitVotesBackOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		var at []time.Time
		c := join(t, &hooks{Store: m.Store(), acquire: func(context.Context, election.Bid) (election.Grant, error) {
			at = append(at, time.Now())
			return election.Grant{}, fmt.Errorf("%w: 1 of 3", election.ErrContended)
		}}, "a")
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		_, err := c.Campaign(ctx)
		wantIs(t, err, election.ErrContended)
		longest := time.Duration(0)
		for i := 1; i < len(at); i++ {
			gap, most := at[i].Sub(at[i-1]), ms+min(4*ms<<min(i, 8), ttl/4)
			if gap < ms || gap > most {
				t.Fatalf("pause %d is %s, want 1ms to %s", i, gap, most)
			}
			longest = max(longest, gap)
		}
		if longest < ttl/8 {
			t.Errorf("the longest pause of %d is %s", len(at), longest)
		}
		if c.logs.count("WARN") != 0 || c.logs.count("INFO") != 0 {
			t.Errorf("split votes are news:\n%s", c.logs)
		}
		if got := m.Calls(electiontest.OpListen); got != 0 {
			t.Errorf("%d subscriptions for a lease that nobody holds", got)
		}
	})
}

// A leader that resigned and campaigns at once does not win its own lease back
// while a standby waits; alone, it need not wait.
func TestCourtesyAfterResigning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a, b := join(t, m.Store(), "a"), join(t, m.Store(), "b")
		term := lead(t, a)
		out := campaignIn(bg, b)
		pass(50 * ms)
		m.Slow(20 * ms) // the standby needs time to come
		if err := term.Resign(bg); err != nil {
			t.Fatal(err)
		}
		again := campaignIn(bg, a)
		o := <-out
		if o.err != nil || len(again) != 0 {
			t.Fatalf("the standby lost: %v", o.err)
		}
		m.Slow(0)
		if err := b.Close(bg); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		if o := <-again; o.err != nil || o.at.Sub(now) > ttl {
			t.Errorf("won %s after the other had gone: %v", o.at.Sub(now), o.err)
		}
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a := join(t, m.Store(), "a")
		for range 2 {
			start := time.Now()
			term := lead(t, a)
			if waited := time.Since(start); waited != 0 {
				t.Errorf("waited %s with nobody else there", waited)
			}
			if err := term.Resign(bg); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// How long the courtesy lasts: a tenth of the TTL, 20 ms to 1 s.
func TestCourtesyLength(t *testing.T) {
	for _, c := range []struct{ ttl, want time.Duration }{
		{100 * ms, 20 * ms}, {3 * time.Second, 300 * ms}, {time.Minute, time.Second},
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			a := join(t, m.Store(), "a", func(o *election.Options) { o.TTL, o.Renew = c.ttl, 0 })
			ctx, cancel := context.WithCancel(bg)
			defer cancel()
			if _, err := m.Store().Released(ctx); err != nil { // a standby that does not come
				t.Fatal(err)
			}
			if err := lead(t, a).Resign(bg); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			lead(t, a)
			if got := time.Since(start); got != c.want {
				t.Errorf("TTL %s: %s of courtesy, want %s", c.ttl, got, c.want)
			}
		})
	}
}

func TestB04_DifferentTTLDoesNotSteal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		long := join(t, m.Store(), "long", func(o *election.Options) { o.TTL, o.Renew = 30*time.Second, 0 })
		short := join(t, m.Store(), "short", func(o *election.Options) { o.TTL, o.Renew = 10*time.Second, 0 })
		term := lead(t, long)
		ctx, cancel := context.WithTimeout(bg, 5*time.Minute)
		defer cancel()
		_, err := short.Campaign(ctx)
		wantIs(t, err, election.ErrNotAcquired)
		if !term.Valid() || term.Loss() != nil {
			t.Errorf("the long lease was stolen: %v", term.Loss())
		}
		if short.logs.count("WARN candidates disagree on the TTL", "mine=10s", "theirs=30s", "leader=long") != 1 ||
			short.logs.count("WARN") != 1 {
			t.Errorf("log:\n%s", short.logs)
		}
	})
}

func TestC16_SameIDTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		first := join(t, m.Store(), "twin")
		second := join(t, m.Store(), "twin", func(o *election.Options) { o.Random = seeded(99) })
		term := lead(t, first)
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		_, err := second.Campaign(ctx)
		wantIs(t, err, election.ErrNotAcquired)
		if !term.Valid() {
			t.Error("the twin disturbed the leader")
		}
		if second.logs.count("WARN another candidate carries the same ID", "id=twin") != 1 || second.logs.count("WARN") != 1 {
			t.Errorf("log:\n%s", second.logs)
		}
	})
}

// The elector's own abandoned bid is no twin.
func TestOwnAbandonedBidIsNoTwin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(200 * ms)
		c := join(t, m.Store(), "a")
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, _ = c.Campaign(ctx)
		lead(t, c)
		if c.logs.count("WARN") != 0 {
			t.Errorf("log:\n%s", c.logs)
		}
	})
}

func TestH07_NormalContentionIsQuiet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		leader := join(t, m.Store(), "leader")
		lead(t, leader)
		ctx, cancel := context.WithTimeout(bg, 10*time.Minute)
		defer cancel()
		var standbys []*candidate
		var outs []<-chan outcome
		for i := range 10 {
			c := join(t, m.Store(), fmt.Sprintf("s%d", i))
			standbys, outs = append(standbys, c), append(outs, campaignIn(ctx, c))
		}
		before := m.Calls(electiontest.OpAcquire)
		for i, out := range outs {
			wantIs(t, (<-out).err, election.ErrNotAcquired)
			if loud := standbys[i].logs.count("INFO") + standbys[i].logs.count("WARN") + standbys[i].logs.count("ERROR"); loud > 10 {
				t.Errorf("standby %d: %d lines in 10 minutes", i, loud)
			}
		}
		// H04, and invariant 10: about one bid a TTL.
		if got := float64(m.Calls(electiontest.OpAcquire)-before) / 10 / 200; got > 1.4 {
			t.Errorf("%.2f bids a TTL and standby", got)
		}
	})
}

func TestMinTokenIsTheFloor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.MinToken = 1000 })
		if got := lead(t, c).Token(); got != 1000 {
			t.Errorf("token %d, want 1000: the least allowed", got)
		}
	})
}

// The highest token seen anywhere is the floor of the next bid: in a refusal,
// in the store's state, with the new holder of a lost lease, and at a fence.
func TestFloorFollowsEveryTokenSeen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		var floor election.Token
		h := &hooks{Store: s}
		refuse := error(nil)
		h.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
			floor = b.Floor
			if err := refuse; err != nil {
				refuse = nil
				return election.Grant{}, err
			}
			return s.Acquire(ctx, b)
		}
		c := join(t, h, "a")
		next := func(what string, want election.Token) *election.Term {
			t.Helper()
			term := lead(t, c)
			if floor != want || term.Token() <= want {
				t.Errorf("%s: floor %d, token %d; want the floor at %d", what, floor, term.Token(), want)
			}
			return term
		}
		term := next("first", 0)
		term.Fenced(500)
		next("fenced", 500) // 501
		m.StealBy("thief")  // 502
		pass(2 * renew)
		m.Expire()
		term = next("taken", 502)
		_ = term.Resign(bg)
		refuse = &election.HeldError{Last: 600, Left: ms}
		term = next("refused", 600)
		_ = term.Resign(bg)
		refuse = &election.HeldError{Holder: election.Leader{Token: 700}, Left: ms}
		term = next("refused by its holder", 700)
		_ = term.Resign(bg)
		refuse = &election.RegressedError{Offered: 1, Known: 800}
		term = next("regressed", 800)
		_ = term.Resign(bg)
		h.inspect = func(context.Context) (election.State, error) { return election.State{Last: 900}, nil }
		_, _ = c.Leader(bg)
		term = next("inspected", 900)
		_ = term.Resign(bg)
		next("its own", 901)
	})
}

// A store that lies about tokens is not believed, and its lease is given back.
func TestTokenThatGoesBackIsRefused(t *testing.T) {
	for _, lie := range []election.Token{0, 1, 5, election.MaxToken + 1} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			s := m.Store()
			lies := true
			c := join(t, &hooks{Store: s, acquire: func(ctx context.Context, b election.Bid) (election.Grant, error) {
				g, err := s.Acquire(ctx, b)
				if lies {
					g.Token = lie
				}
				return g, err
			}}, "a", func(o *election.Options) { o.MinToken = 6 })
			ctx, cancel := context.WithTimeout(bg, ttl)
			defer cancel()
			_, err := c.Campaign(ctx)
			wantIs(t, err, election.ErrNotAcquired, election.ErrTokenRegressed)
			if got := m.Calls(electiontest.OpAcquire); got > 15 {
				t.Errorf("%d bids in one TTL: each woke itself by its release", got)
			}
			var back *election.RegressedError
			if !errors.As(err, &back) || back.Offered != lie || back.Known != 5 {
				t.Errorf("%v", err)
			}
			wantFree(t, m)
			synctest.Wait()
			if wantOrder(t, c.events.list()) != 0 {
				t.Error("a term started")
			}
			lies = false
			lead(t, c)
		})
	}
}

// A fence that speaks up while a bid is in flight is heard.
func TestFencedDuringABid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		old := lead(t, c)
		_ = old.Resign(bg)
		m.Slow(100 * ms)
		out := campaignIn(bg, c)
		pass(50 * ms)
		old.Fenced(77)
		if o := <-out; o.err != nil || o.term.Token() != 78 {
			t.Errorf("%v, want token 78", o)
		}
		wantIs(t, c.events.last(t, election.BidRefused).Err, election.ErrTokenRegressed)
	})
}

// Whoever asks who leads while the bid is in flight sees that bid's own token:
// that is no reason not to lead with it.
func TestAskedWhoLeadsDuringABid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.Slow(100 * ms)
		c := join(t, m.Store(), "a")
		out := campaignIn(bg, c)
		pass(50 * ms)
		m.Slow(0)
		if l, err := c.Leader(bg); err != nil || l.Token != 1 {
			t.Fatalf("%+v, %v", l, err)
		}
		if o := <-out; o.err != nil || o.term.Token() != 1 {
			t.Errorf("%v, want the term of token 1", o)
		}
	})
}

// Bids differ from each other, also between electors that draw the same numbers.
func TestBidValuesAreUnique(t *testing.T) {
	bubble(t, func(t *testing.T) {
		seen := map[string]bool{}
		var mu sync.Mutex
		var who election.Candidate
		count := func(ctx context.Context, b election.Bid) (election.Grant, error) {
			mu.Lock()
			defer mu.Unlock()
			if seen[b.Value] {
				t.Errorf("value %s came twice", b.Value)
			}
			seen[b.Value] = true
			who = b.Candidate
			return election.Grant{}, &election.HeldError{Left: 20 * ms}
		}
		meta := map[string]string{"addr": "10.0.0.1"}
		stuck := func() uint64 { return 7 }
		c := join(t, &hooks{acquire: count, Store: electiontest.NewMemory().Store()}, "a", func(o *election.Options) { o.Random, o.Metadata = stuck, meta })
		meta["addr"] = "changed later"
		ctx, cancel := context.WithTimeout(bg, ttl)
		defer cancel()
		_, _ = c.Campaign(ctx)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(seen) < 100 {
			t.Fatalf("only %d bids", len(seen))
		}
		if who.ID != "a" || who.PID == 0 || who.Instance == "" || who.Metadata["addr"] != "10.0.0.1" {
			t.Errorf("the candidate is shown as %+v", who)
		}
	})
}

// A lapsed term that was never given back is, by the next campaign; what goes
// wrong with that does not stop the campaign.
func TestNextCampaignGivesTheLastTermBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		sick := errors.New("sick")
		var health error
		c := join(t, m.Store(), "a", func(o *election.Options) { o.Health = func(context.Context) error { return health } })
		term := lead(t, c)
		health = sick
		<-term.Context().Done()
		health = nil
		start := time.Now()
		again := lead(t, c)
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %s for the own old lease", waited)
		}
		if term.Valid() || m.Calls(electiontest.OpRelease) != 1 {
			t.Error("the old term was not given back")
		}
		again.Fenced(9)
		m.Fail(errors.New("no releases today"), electiontest.OpRelease)
		next := lead(t, c)
		if next.Token() <= 9 {
			t.Errorf("token %d", next.Token())
		}
		if c.logs.count("DEBUG lease of the last term not given back", "no releases today") != 1 {
			t.Errorf("log:\n%s", c.logs)
		}
	})
}

// While work that Run started is still stopping, nobody may campaign.
func TestCampaignWhileWorkIsStoppingIsErrHeld(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		stopped := make(chan struct{})
		done := runIn(ctx, c, func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			<-stopped
			return nil
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		_, err := c.Campaign(bg)
		wantIs(t, err, election.ErrHeld)
		close(stopped)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		lead(t, c)
	})
}
