package election_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// checkedRelease is a store that checks each release: work has returned, the
// term is not valid, and the context is of use.
func checkedRelease(t *testing.T, m *electiontest.Memory, working *atomic.Bool, led *atomic.Pointer[election.Term]) *hooks {
	s := m.Store()
	return &hooks{Store: s, release: func(ctx context.Context, g election.Grant) (election.Released, error) {
		if working.Load() {
			t.Error("released while the work runs")
		}
		if term := led.Load(); term != nil && term.Valid() {
			t.Error("released while the term is valid")
		}
		if ctx.Err() != nil {
			t.Errorf("released with a context that is done: %v", ctx.Err())
		}
		if _, ok := ctx.Deadline(); !ok {
			t.Error("a release without a bound")
		}
		return s.Release(ctx, g)
	}}
}

var errWork = errors.New("work failed")

type ctxKey struct{}

func TestRunOutcomes(t *testing.T) {
	wait := func(ctx context.Context) { <-ctx.Done(); <-time.After(100 * ms) } // slow to stop
	for name, c := range map[string]struct {
		work   func(ctx context.Context, t *election.Term) error
		cancel bool
		check  func(error) bool
	}{
		"nil":   {func(context.Context, *election.Term) error { return nil }, false, func(err error) bool { return err == nil }},
		"error": {func(context.Context, *election.Term) error { return errWork }, false, func(err error) bool { return err == errWork }},
		"own context error": {func(context.Context, *election.Term) error { return context.DeadlineExceeded }, false,
			func(err error) bool { return err == context.DeadlineExceeded }},
		"panic": {func(context.Context, *election.Term) error { panic("boom") }, false, func(err error) bool {
			var p *election.PanicError
			return errors.As(err, &p) && p.Value == "boom" && p.Unwrap() == nil &&
				strings.HasPrefix(err.Error(), "work panicked: boom\n") && strings.Contains(err.Error(), "run_test.go")
		}},
		"panic with an error": {func(context.Context, *election.Term) error { panic(errWork) }, false,
			func(err error) bool { return errors.Is(err, errWork) && err != errWork }},
		"end": {func(ctx context.Context, _ *election.Term) error { wait(ctx); return nil }, true, func(err error) bool { return err == nil }},
		"end, context error": {func(ctx context.Context, _ *election.Term) error { wait(ctx); return fmt.Errorf("poll: %w", ctx.Err()) }, true,
			func(err error) bool { return err == nil }},
		"end, cause": {func(ctx context.Context, _ *election.Term) error { wait(ctx); return context.Cause(ctx) }, true,
			func(err error) bool { return err == nil }},
		"end, error": {func(ctx context.Context, _ *election.Term) error { wait(ctx); return errWork }, true,
			func(err error) bool { return err == errWork }},
		"end, own time-out": {func(ctx context.Context, _ *election.Term) error { wait(ctx); return context.DeadlineExceeded }, true,
			func(err error) bool { return err == context.DeadlineExceeded }},
		"end, joined": {func(ctx context.Context, _ *election.Term) error {
			wait(ctx)
			return errors.Join(ctx.Err(), context.Cause(ctx))
		}, true,
			func(err error) bool { return err == nil }},
		"end, joined with more": {func(ctx context.Context, _ *election.Term) error { wait(ctx); return errors.Join(ctx.Err(), errWork) }, true,
			func(err error) bool { return errors.Is(err, errWork) }},
		"end, panic": {func(ctx context.Context, _ *election.Term) error { wait(ctx); panic("late") }, true,
			func(err error) bool { var p *election.PanicError; return errors.As(err, &p) }},
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			var working atomic.Bool
			var led atomic.Pointer[election.Term]
			e := join(t, checkedRelease(t, m, &working, &led), "a")
			ctx, cancel := context.WithCancelCause(context.WithValue(bg, ctxKey{}, "value"))
			defer cancel(nil)
			done := runIn(ctx, e, func(ctx context.Context, term *election.Term) error {
				led.Store(term)
				working.Store(true)
				defer working.Store(false)
				if ctx.Value(ctxKey{}) != "value" || ctx.Err() != nil || !term.Valid() {
					t.Errorf("%s: work started with %v", name, ctx.Err())
				}
				return c.work(ctx, term)
			})
			synctest.Wait()
			if c.cancel {
				cancel(errors.New("shutting down"))
			}
			if err := <-done; !c.check(err) {
				t.Errorf("%s: Run returned %v", name, err)
			}
			wantFree(t, m)
			if m.Calls(electiontest.OpAcquire) != 1 || m.Calls(electiontest.OpRelease) != 1 {
				t.Errorf("%s: %d bids, %d releases", name, m.Calls(electiontest.OpAcquire), m.Calls(electiontest.OpRelease))
			}
			if got := e.logs.count("ERROR work panicked", "token=1"); got != 1 && strings.Contains(name, "panic") {
				t.Errorf("%s: log:\n%s", name, e.logs)
			}
			synctest.Wait()
			wantOrder(t, e.events.list())
		})
	}
}

func TestRunSurvivesGoexit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		var working atomic.Bool
		var led atomic.Pointer[election.Term]
		e := join(t, checkedRelease(t, m, &working, &led), "a")
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_ = election.Run(bg, e, func(context.Context, *election.Term) error { runtime.Goexit(); return nil })
			t.Error("Run returned")
		}()
		<-gone
		wantFree(t, m)
		lead(t, e) // the elector is of further use
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		e := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		done := runIn(ctx, e, untilDone)
		pass(ttl)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run of a standby: %v", err)
		}
		if err := election.Run(ctx, e, untilDone); err != nil {
			t.Errorf("Run with a context that is done: %v", err)
		}
		synctest.Wait()
		if got := wantOrder(t, e.events.list()); got != 0 {
			t.Errorf("%d terms of a candidate that never led", got)
		}
	})
}

func TestRunReturnsWhatForbidsACampaign(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := join(t, electiontest.NewMemory().Store(), "a")
		lead(t, e)
		wantIs(t, election.Run(bg, e, untilDone), election.ErrHeld)
		if err := e.Close(bg); err != nil {
			t.Fatal(err)
		}
		wantIs(t, election.Run(bg, e, untilDone), election.ErrClosed)
	})
}

// B12, and invariant 11: losing is not the end, and what work says about a term
// that it lost is logged, unless it only repeats that.
func TestB12_LostTermIsFollowedByAnother(t *testing.T) {
	for name, c := range map[string]struct {
		result func(context.Context) error
		lines  int
	}{
		"nil":   {func(context.Context) error { return nil }, 0},
		"cause": {context.Cause, 0},
		"err":   {context.Context.Err, 0},
		"error": {func(context.Context) error { return errWork }, 1},
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			e := join(t, m.Store(), "a")
			var tokens []election.Token
			start := time.Now()
			var lost time.Time
			err := election.Run(bg, e, func(ctx context.Context, term *election.Term) error {
				tokens = append(tokens, term.Token())
				if len(tokens) == 2 {
					return nil
				}
				m.Expire()
				<-ctx.Done()
				lost = time.Now()
				wantLoss(t, ctx, election.ErrExpired, "expired")
				return c.result(ctx)
			})
			if err != nil || len(tokens) != 2 || tokens[1] <= tokens[0] {
				t.Errorf("%s: %v, tokens %v", name, err, tokens)
			}
			if lost.Sub(start) > renew || time.Since(lost) > 200*ms {
				t.Errorf("%s: lost after %s, regained after %s", name, lost.Sub(start), time.Since(lost))
			}
			if got := e.logs.count("WARN work failed as its term ended", "work failed", "token=1"); got != c.lines {
				t.Errorf("%s: log:\n%s", name, e.logs)
			}
		})
	}
}

// E15: two candidates that lose in turn do not spin.
func TestE15_NoBusyLoopBetweenTwo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		a := runIn(ctx, join(t, m.Store(), "a"), untilDone)
		b := runIn(ctx, join(t, m.Store(), "b"), untilDone)
		for range 10 {
			pass(5 * time.Second)
			m.Expire()
		}
		<-a
		<-b
		if got := m.Calls(electiontest.OpAcquire); got > 80 {
			t.Errorf("%d bids in a minute with 10 losses", got)
		}
	})
}

// The context of the work sees the end at the first look after a pause.
func TestC08_WorkSeesThePauseAtFirstLook(t *testing.T) {
	for name, look := range map[string]func(context.Context) bool{
		"Err": func(ctx context.Context) bool { return ctx.Err() != nil },
		"Done": func(ctx context.Context) bool {
			select {
			case <-ctx.Done():
				return true
			default:
				return false
			}
		},
	} {
		bubble(t, func(t *testing.T) {
			clock := &jumpClock{}
			e := join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = clock })
			err := election.Run(bg, e, func(ctx context.Context, term *election.Term) error {
				if term.Token() > 1 {
					return nil
				}
				if look(ctx) {
					t.Errorf("%s: done before the pause", name)
				}
				clock.jump(2 * ttl)
				if !look(ctx) {
					t.Errorf("%s: not done after the pause", name)
				}
				wantLoss(t, ctx, election.ErrExpired, "expired")
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// C03: work needs a second to stop, a standby waits: the next term starts only
// when that second is over, and at once then (B01).
func TestC03_NotReleasedWhileWorkRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a, b := join(t, m.Store(), "a"), join(t, m.Store(), "b")
		var stopped time.Time
		ctx, cancel := context.WithCancel(bg)
		done := runIn(ctx, a, func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			<-time.After(time.Second)
			stopped = time.Now()
			return nil
		})
		pass(ttl)
		out := campaignIn(bg, b)
		pass(100 * ms)
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		o := <-out
		if o.err != nil || o.at.Before(stopped) || o.at.Sub(stopped) > ms {
			t.Errorf("next term %s after the work had stopped: %v", o.at.Sub(stopped), o.err)
		}
	})
}

func TestB01_GracefulStopDoesNotWaitForTheLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		long := func(o *election.Options) { o.TTL, o.Renew = 30*time.Second, 0 }
		a, b := join(t, m.Store(), "a", long), join(t, m.Store(), "b", long)
		ctx, cancel := context.WithCancel(bg)
		done := runIn(ctx, a, untilDone)
		synctest.Wait()
		out := campaignIn(bg, b)
		pass(20 * time.Second)
		m.Slow(5 * ms)
		cancel()
		stop := time.Now()
		if o := <-out; o.err != nil || o.at.Sub(stop) > 100*ms {
			t.Errorf("handover took %s: %v", o.at.Sub(stop), o.err)
		}
		<-done
	})
}

// B09: a frozen leader says nothing; it is replaced when its lease ends.
func TestB09_FrozenLeaderIsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := &stall{}
		a, b := join(t, s.store(m), "a"), join(t, m.Store(), "b")
		lead(t, a)
		out := campaignIn(bg, b)
		pass(2*ttl + 100*ms)
		s.on()
		<-s.began // applied, never answered
		frozen := time.Now()
		o := <-out
		if waited := o.at.Sub(frozen); o.err != nil || waited < ttl || waited > ttl+100*ms {
			t.Errorf("replaced after %s: %v", waited, o.err)
		}
		s.off()
	})
}

// B10: a standby that was cut off for long wins when the leader dies.
func TestB10_StandbyThatWasCutOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		var cut atomic.Bool
		gone := &election.MasterError{Master: "m1", Op: "acquire", Kind: election.ErrUnreachable, Err: context.DeadlineExceeded}
		b := join(t, &hooks{Store: s, acquire: func(ctx context.Context, bid election.Bid) (election.Grant, error) {
			if cut.Load() {
				<-time.After(ttl / 4)
				return election.Grant{}, gone
			}
			return s.Acquire(ctx, bid)
		}}, "b")
		stalled := &stall{}
		a := join(t, stalled.store(m), "a")
		lead(t, a)
		out := campaignIn(bg, b)
		pass(ttl)
		m.LoseHints(true)
		cut.Store(true)
		pass(10 * ttl)
		wantIs(t, b.events.last(t, election.BidRefused).Err, election.ErrUnreachable)
		cut.Store(false)
		m.LoseHints(false)
		pass(ttl)
		stalled.on()
		<-stalled.began
		killed := time.Now()
		if o := <-out; o.err != nil || o.at.Sub(killed) > ttl+time.Second {
			t.Errorf("won %s after the leader died: %v", o.at.Sub(killed), o.err)
		}
		if b.logs.count("WARN") != 1 || b.logs.count("INFO store answers again") != 1 {
			t.Errorf("log:\n%s", b.logs)
		}
		stalled.off()
	})
}

// B02: the context ends while a renewal is in flight; the release is sent all
// the same, with a context of its own, each time.
func TestB02_CancelWhileARenewalIsInFlight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		inFlight := make(chan struct{})
		e := join(t, &hooks{Store: s, renew: func(ctx context.Context, g election.Grant) (election.Grant, error) {
			inFlight <- struct{}{}
			g, err := s.Renew(ctx, g)
			<-time.After(20 * ms)
			return g, err
		}}, "a")
		for i := range 1000 {
			ctx, cancel := context.WithCancel(bg)
			done := runIn(ctx, e, untilDone)
			<-inFlight
			cancel()
			canceled := time.Now()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if took := time.Since(canceled); took > 500*ms {
				t.Fatalf("round %d: stopped after %s", i, took)
			}
			wantFree(t, m)
			if t.Failed() {
				t.Fatalf("round %d", i)
			}
		}
		synctest.Wait()
		if got := wantOrder(t, e.events.list()); got != 1000 {
			t.Errorf("%d terms", got)
		}
	})
}

// A release that fails is told, and costs no more than the rest of the lease.
func TestReleaseThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		m.Fail(errors.New("no releases"), electiontest.OpRelease)
		if err := election.Run(bg, e, func(context.Context, *election.Term) error { return nil }); err != nil {
			t.Errorf("Run: %v", err)
		}
		if e.logs.count("WARN lease not given back", "token=1", "no releases") != 1 {
			t.Errorf("log:\n%s", e.logs)
		}
		start := time.Now()
		lead(t, e)
		if waited := time.Since(start); waited > ttl+10*ms {
			t.Errorf("waited %s", waited)
		}
	})
}

// The release of a hung store is bounded, and so is Run.
func TestReleaseOfAHungStoreIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		done := runIn(ctx, e, untilDone)
		synctest.Wait()
		m.Hang(true)
		cancel()
		start := time.Now()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != ttl/2 {
			t.Errorf("Run returned after %s, want TTL/2", took)
		}
	})
}

// A term that was over before its work could begin is not worked on, and is
// given back even if no campaign follows.
func TestTermOverBeforeWorkBegins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		err := election.Run(ctx, &interposed{e, func(term *election.Term) { term.Fenced(7); cancel() }},
			func(context.Context, *election.Term) error {
				t.Error("work was started")
				return nil
			})
		if err != nil {
			t.Error(err)
		}
		wantFree(t, m)
	})
}

// interposed looks at each term before its taker does.
type interposed struct {
	election.Elector
	look func(*election.Term)
}

func (i *interposed) Campaign(ctx context.Context) (*election.Term, error) {
	term, err := i.Elector.Campaign(ctx)
	if err == nil {
		i.look(term)
	}
	return term, err
}
