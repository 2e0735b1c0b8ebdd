package election_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// stall is a store whose renewals hang, whatever their context says, from
// on() to off(); what they are answered then is the store's own answer.
type stall struct {
	mu    sync.Mutex
	until chan struct{}
	began chan struct{} // gets one value for each renewal that hangs
}

func (s *stall) on() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = make(chan struct{})
}

func (s *stall) off() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.until)
	s.until = nil
}

// store applies renewals first, and hangs before it answers.
func (s *stall) store(m *electiontest.Memory) *hooks {
	s.began = make(chan struct{}, 100)
	inner := m.Store()
	return &hooks{Store: inner, renew: func(ctx context.Context, g election.Grant) (election.Grant, error) {
		s.mu.Lock()
		until := s.until
		s.mu.Unlock()
		if until == nil {
			return inner.Renew(ctx, g)
		}
		g, err := inner.Renew(bg, g)
		s.began <- struct{}{}
		<-until
		return g, err
	}}
}

// The renewal blocks past the lease: the term ends by the local timer at its
// deadline, the context StepDown before it, and a rival is never early.
func TestC01_BlockedRenewalDoesNotHoldTheTerm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := &stall{}
		a := join(t, s.store(m), "a")
		b := join(t, m.Store(), "b")
		term := lead(t, a)
		s.on()
		<-s.began
		deadline := term.Deadline()
		out := campaignIn(bg, b)
		<-term.Context().Done()
		if got := time.Until(deadline); got != ttl/10 {
			t.Errorf("context done %s before the deadline, want %s", got, ttl/10)
		}
		if !term.Valid() {
			t.Error("not valid any more at step-down")
		}
		l := wantLoss(t, term.Context(), election.ErrLostContact, "unreachable")
		if l.Token != term.Token() || l.Err == nil {
			t.Errorf("loss %+v", l)
		}
		pass(time.Until(deadline) - 1)
		if !term.Valid() || term.Remaining() != 1 {
			t.Errorf("valid %v with %s left, 1ns before the deadline", term.Valid(), term.Remaining())
		}
		pass(1)
		if term.Valid() || term.Remaining() != 0 {
			t.Error("valid at the deadline")
		}
		if o := <-out; o.err != nil || o.at.Before(deadline) {
			t.Errorf("the rival won %s after the deadline: %v", o.at.Sub(deadline), o.err)
		}
		s.off()
		synctest.Wait()
		if term.Valid() {
			t.Error("the late answer revived the term")
		}
		ended := a.events.last(t, election.TermEnded)
		if !ended.At.Equal(deadline) {
			t.Errorf("ended %s after the deadline", ended.At.Sub(deadline))
		}
	})
}

// R1 at renew: an answer that is handled after the old deadline does not count,
// although no timer has had its turn, and although the store said yes.
func TestR1_LateRenewalDoesNotRevive(t *testing.T) {
	for _, late := range []time.Duration{-ms, 0, ms} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			clock := &jumpClock{}
			s := m.Store()
			var led atomic.Pointer[election.Term]
			jumped := false
			h := &hooks{Store: s, renew: func(ctx context.Context, g election.Grant) (election.Grant, error) {
				if !jumped {
					jumped = true
					clock.jump(led.Load().Deadline().Sub(clock.Now()) + late)
				}
				return s.Renew(ctx, g)
			}}
			c := join(t, h, "a", func(o *election.Options) { o.Clock = clock; o.StepDown = ms / 2 })
			term := lead(t, c)
			led.Store(term)
			pass(renew)
			counted := late < 0
			if got := c.events.count(election.Renewed) > 0; got != counted {
				t.Errorf("answered %s after the deadline: counted is %v", late, got)
			}
			if term.Valid() != counted {
				t.Errorf("answered %s after the deadline: valid is %v", late, term.Valid())
			}
			if counted {
				return
			}
			wantIs(t, c.events.last(t, election.RenewFailed).Err, election.ErrTooSlow)
			if got := term.Loss().Word(); got != "expired" { // not refused: the store did confirm
				t.Errorf("the loss reads %q", got)
			}
			old := term.Token()
			if again := lead(t, c); again.Token() <= old {
				t.Errorf("token %d after %d", again.Token(), old)
			}
		})
	}
}

// The host was suspended: timers stand still, the clock does not. The first
// look already sees the end, whichever way one looks.
func TestSuspendedHostSeesTheEndAtFirstLook(t *testing.T) {
	looks := map[string]func(*election.Term) bool{
		"Valid":     func(t *election.Term) bool { return !t.Valid() },
		"Remaining": func(t *election.Term) bool { return t.Remaining() == 0 },
		"Loss":      func(t *election.Term) bool { return t.Loss() != nil },
		"Err":       func(t *election.Term) bool { return t.Context().Err() != nil && context.Cause(t.Context()) != nil },
		"Done": func(t *election.Term) bool {
			select {
			case <-t.Context().Done():
				return true
			default:
				return false
			}
		},
	}
	for name, over := range looks {
		bubble(t, func(t *testing.T) {
			clock := &jumpClock{}
			c := join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = clock })
			term := lead(t, c)
			synctest.Wait()
			if over(term) {
				t.Fatalf("%s: over before the pause", name)
			}
			clock.jump(term.Remaining())
			if !over(term) {
				t.Errorf("%s does not see the end", name)
			}
			wantLoss(t, term.Context(), election.ErrExpired, "expired")
		})
	}
}

// A shorter pause: step-down is seen, and the term is still valid.
func TestSuspendedHostSeesStepDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := &jumpClock{}
		c := join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = clock })
		term := lead(t, c)
		synctest.Wait() // or else the renewer would find itself late, and renew
		clock.jump(term.Remaining() - ttl/10 - 1)
		if term.Context().Err() != nil || !term.Valid() {
			t.Fatal("over 1ns before step-down")
		}
		clock.jump(1)
		if term.Context().Err() == nil || !term.Valid() {
			t.Errorf("context %v, valid %v", term.Context().Err(), term.Valid())
		}
	})
}

// Nobody looks: the end is noticed within a tenth of a TTL of running time.
func TestSuspendedHostIsNoticedUnasked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := &jumpClock{}
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.Clock = clock; o.TTL, o.Renew = 30*time.Second, 0 })
		lead(t, c)
		synctest.Wait() // the renewer sleeps until its time
		clock.jump(time.Minute)
		pass(30 * time.Second / 10)
		if c.events.count(election.TermEnded) != 1 || m.Calls(electiontest.OpRenew) != 0 {
			t.Errorf("events %v", c.events.list())
		}
	})
}

// The renewer gets no CPU: no timer fires for 10 TTL.
func TestD20_StarvedRenewer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.Clock = lateClock{10 * ttl} })
		term := lead(t, c)
		watchBelief(t, m, term, 0)
		if term.Valid() || m.Calls(electiontest.OpRenew) != 0 {
			t.Error("the renewer was not starved")
		}
		wantLoss(t, term.Context(), election.ErrExpired, "expired")
	})
	bubble(t, func(t *testing.T) {
		c := join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = lateClock{200 * ms} })
		lead(t, c)
		pass(5 * ttl)
		renewed := c.events.list(election.Renewed)
		if len(renewed) < 10 {
			t.Fatalf("%d renewals in 5 TTL", len(renewed))
		}
		for _, ev := range renewed {
			if ev.Lag != 200*ms {
				t.Errorf("lag %s, want 200ms", ev.Lag)
			}
		}
	})
}

func TestA34_NotValidForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		term := lead(t, c)
		m.Hang(true)
		<-time.After(time.Until(term.Deadline()))
		if term.Valid() {
			t.Error("valid at the deadline")
		}
		<-time.After(2 * ttl)
		var calls [2]int
		for i := range calls {
			for _, op := range []electiontest.Op{electiontest.OpAcquire, electiontest.OpRenew, electiontest.OpRelease, electiontest.OpInspect} {
				calls[i] += m.Calls(op)
			}
			if term.Valid() {
				t.Error("valid after 2 TTL")
			}
		}
		if calls[0] != calls[1] {
			t.Error("asking sent something")
		}
	})
}

func TestA09_OneHandleForAllRenewals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		term := lead(t, c)
		for range 100 {
			pass(renew)
			if !term.Valid() || term.Token() != 1 || m.Token() != 1 { // C12: no inflation
				t.Fatalf("valid %v, token %d, issued %d", term.Valid(), term.Token(), m.Token())
			}
		}
		if err := term.Resign(bg); err != nil {
			t.Error(err)
		}
		wantFree(t, m)
	})
}

// What a renewal may find, and how each is told apart (A21), at most one
// renewal later and by the context's cause (C07).
func TestC07_HolderIsToldWhy(t *testing.T) {
	loading := &election.MasterError{Master: "m1", Op: "renew", Kind: election.ErrLoading, Err: errors.New("LOADING")}
	for _, c := range []struct {
		name   string
		mishap func(*electiontest.Memory)
		reason error
		word   string
		within time.Duration
		also   error // found in the detail
	}{
		{"deleted", (*electiontest.Memory).Expire, election.ErrExpired, "expired", renew, election.ErrExpired},
		{"taken", func(m *electiontest.Memory) { m.StealBy("thief") }, election.ErrTaken, "taken", renew, election.ErrTaken},
		{"cut off", func(m *electiontest.Memory) { m.Unreachable(true) }, election.ErrLostContact, "unreachable", ttl, election.ErrUnreachable},
		{"black hole", func(m *electiontest.Memory) { m.Hang(true) }, election.ErrLostContact, "unreachable", ttl, election.ErrUnreachable},
		{"time-out", func(m *electiontest.Memory) { m.Fail(context.DeadlineExceeded) }, election.ErrLostContact, "unreachable", ttl, context.DeadlineExceeded},
		{"refused", func(m *electiontest.Memory) { m.Fail(loading) }, election.ErrRefused, "refused", ttl, election.ErrLoading},
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			cand := join(t, m.Store(), "a")
			term := lead(t, cand)
			c.mishap(m)
			start := time.Now()
			<-term.Context().Done()
			if took := time.Since(start); took > c.within {
				t.Errorf("%s: told after %s", c.name, took)
			}
			l := wantLoss(t, term.Context(), c.reason, c.word)
			wantIs(t, l, c.reason, c.also)
			if term.Loss() != l {
				t.Errorf("%s: Loss() is %v, the cause %v", c.name, term.Loss(), l)
			}
			certain := c.within == renew
			if term.Valid() == certain {
				t.Errorf("%s: valid is %v as the context is done", c.name, term.Valid())
			}
			pass(ttl)
			if term.Valid() {
				t.Errorf("%s: valid for ever", c.name)
			}
			for _, kind := range []election.EventKind{election.TermStopping, election.TermEnded} {
				if ev := cand.events.last(t, kind); !errors.Is(ev.Err, c.reason) || ev.Token != 1 {
					t.Errorf("%s: %s says %v", c.name, kind, ev.Err)
				}
			}
			if cand.logs.count("WARN leadership ended", "token=1", "reason="+c.word, "error=") != 1 {
				t.Errorf("%s: log:\n%s", c.name, cand.logs)
			}
		})
	}
}

func TestTakenNamesTheThief(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		term := lead(t, join(t, m.Store(), "a"))
		token := m.StealBy("thief")
		<-term.Context().Done()
		var taken *election.TakenError
		if !errors.As(context.Cause(term.Context()), &taken) || taken.By.ID != "thief" || taken.By.Token != token {
			t.Errorf("cause %v", context.Cause(term.Context()))
		}
	})
}

// A lease that was deleted is not made anew by its renewal (A02, A07, A21).
func TestA07_RenewalNeverTakesALease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		term := lead(t, join(t, m.Store(), "a"))
		m.Expire()
		<-term.Context().Done()
		pass(ttl)
		wantFree(t, m)
		if term.Valid() || m.Token() != 1 {
			t.Errorf("valid %v, token %d", term.Valid(), m.Token())
		}
		wantIs(t, term.Resign(bg), election.ErrExpired)
	})
}

func TestResignIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		term := lead(t, c)
		for range 3 {
			if err := term.Resign(bg); err != nil {
				t.Error(err)
			}
			if term.Valid() || term.Context().Err() == nil {
				t.Error("still leading after Resign")
			}
		}
		wantFree(t, m)
		if got := m.Calls(electiontest.OpRelease); got != 1 {
			t.Errorf("%d releases sent, want 1", got)
		}
		wantLoss(t, term.Context(), election.ErrResigned, "resigned")
		synctest.Wait()
		if ev := c.events.last(t, election.TermReleased); ev.Err != nil || ev.Token != 1 {
			t.Errorf("%+v", ev)
		}
		if c.logs.count("INFO leadership ended", "reason=resigned") != 1 {
			t.Errorf("log:\n%s", c.logs)
		}
		wantOrder(t, c.events.list())
	})
}

func TestA28_FailedResignKeepsTheLock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		term := lead(t, join(t, m.Store(), "a"))
		canceled, cancel := context.WithCancel(bg)
		cancel()
		for range 20 { // whatever else is ready, an end of the context comes first
			wantIs(t, term.Resign(canceled), context.Canceled)
			synctest.Wait()
		}
		if term.Valid() {
			t.Error("valid after Resign")
		}
		if _, held := m.Leader(); !held || m.Calls(electiontest.OpRelease) != 0 {
			t.Error("a cancelled Resign sent a release")
		}
		m.Unreachable(true)
		wantIs(t, term.Resign(bg), election.ErrUnreachable)
		m.Unreachable(false)
		if err := term.Resign(bg); err != nil {
			t.Error(err)
		}
		wantFree(t, m)
	})
}

func TestA10_ResigningALapsedTerm(t *testing.T) {
	for name, c := range map[string]struct {
		mishap func(*electiontest.Memory)
		want   error
	}{
		"deleted": {(*electiontest.Memory).Expire, election.ErrExpired},
		"taken":   {func(m *electiontest.Memory) { m.StealBy("thief") }, election.ErrTaken},
	} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			cand := join(t, m.Store(), "a")
			term := lead(t, cand)
			c.mishap(m)
			wantIs(t, term.Resign(bg), c.want)
			if l, held := m.Leader(); held != (name == "taken") || held && l.ID != "thief" {
				t.Errorf("%s: the store has %+v", name, l)
			}
			synctest.Wait()
			wantIs(t, cand.events.last(t, election.TermReleased).Err, c.want)
			if err := cand.Close(bg); err != nil {
				t.Errorf("%s: close: %v", name, err)
			}
		})
	}
}

// Resign waits for the renewal in flight, for its caller's context, and for a
// Resign by somebody else, so that nothing of this term follows its release.
func TestResignWaitsForTheRenewalInFlight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := &stall{}
		c := join(t, s.store(m), "a")
		term := lead(t, c)
		s.on()
		<-s.began
		deadline := term.Deadline()
		impatient, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		wantIs(t, term.Resign(impatient), context.DeadlineExceeded)
		if term.Valid() {
			t.Error("valid after Resign")
		}
		done := make(chan error, 1)
		go func() { done <- term.Resign(bg) }()
		synctest.Wait()
		if len(done) != 0 || m.Calls(electiontest.OpRelease) != 0 {
			t.Fatal("a release was sent while a renewal was in flight")
		}
		s.off()
		if err := <-done; err != nil {
			t.Error(err)
		}
		wantFree(t, m)
		synctest.Wait()
		if c.events.count(election.Renewed) != 0 || !term.Deadline().Equal(deadline) {
			t.Error("an answer counted after the end of its term")
		}
	})
}

func TestConcurrentResignsSendOneRelease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		term := lead(t, join(t, m.Store(), "a"))
		m.Slow(100 * ms)
		impatient, cancel := context.WithTimeout(bg, 50*ms)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := term.Resign(bg); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() { wantIs(t, term.Resign(impatient), context.DeadlineExceeded) })
		wg.Go(func() {
			if err := term.Resign(bg); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if got := m.Calls(electiontest.OpRelease); got != 1 {
			t.Errorf("%d releases", got)
		}
	})
}

// After a release nothing more is sent for the term.
func TestA22_NothingFollowsTheRelease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		for range 1000 {
			term := lead(t, c)
			if err := term.Resign(bg); err != nil {
				t.Fatal(err)
			}
		}
		pass(3 * renew)
		if got := m.Calls(electiontest.OpRenew); got != 0 {
			t.Errorf("%d renewals after the releases", got)
		}
		wantFree(t, m)
		if got := wantOrder(t, c.events.list()); got != 1000 {
			t.Errorf("%d terms reported", got)
		}
	})
}

// A resource knows a higher token: the context is done, nothing is renewed any
// more, and the next term is above.
func TestFenced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		term := lead(t, c)
		term.Fenced(41)
		if term.Valid() || term.Context().Err() == nil {
			t.Errorf("valid %v, context %v", term.Valid(), term.Context().Err())
		}
		l := wantLoss(t, term.Context(), election.ErrFenced, "fenced")
		if l.Error() != "term 1 ended: fenced by a higher token: a resource has seen token 41" {
			t.Errorf("text %q", l)
		}
		term.Fenced(43) // only the first reason counts
		if term.Loss() != l {
			t.Error("the reason changed")
		}
		pass(2 * ttl)
		if got := m.Calls(electiontest.OpRenew); got != 0 {
			t.Errorf("%d renewals of a fenced term", got)
		}
		if next := lead(t, c); next.Token() != 44 {
			t.Errorf("token %d, want 44", next.Token())
		}
	})
}

func TestFencedByNothingHigher(t *testing.T) {
	bubble(t, func(t *testing.T) {
		term := lead(t, join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.MinToken = 7 }))
		term.Fenced(6)
		term.Fenced(7)
		if !term.Valid() || term.Loss() != nil {
			t.Errorf("its own token and a smaller one ended it: %v", term.Loss())
		}
	})
}

func TestContextCarriesNoValuesAndWorksAsParent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		term := lead(t, join(t, electiontest.NewMemory().Store(), "a"))
		child, cancel := context.WithTimeout(term.Context(), time.Hour)
		defer cancel()
		if child.Err() != nil {
			t.Fatal("done at once")
		}
		_ = term.Resign(bg)
		<-child.Done()
		wantLoss(t, child, election.ErrResigned, "resigned")
	})
}
