package electiontest_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

const ms = time.Millisecond

var bg = context.Background()

func bid(value string, floor election.Token) election.Bid {
	return election.Bid{Value: value, Candidate: election.Candidate{ID: value}, TTL: time.Second, Floor: floor}
}

// win acquires and expects to get it.
func win(t *testing.T, s election.Store, b election.Bid) election.Grant {
	t.Helper()
	g, err := s.Acquire(bg, b)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	return g
}

func wantIs(t *testing.T, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Errorf("error %v does not match %v", err, target)
		}
	}
}

// after lets virtual time go by.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestMemoryAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		g := win(t, s, bid("a", 0))
		if g.Token != 1 || g.Value != "a" || g.Held != 1 || g.Masters != 1 || m.Token() != 1 {
			t.Errorf("grant %+v", g)
		}
		if again := win(t, s, bid("a", 0)); again.Token != 1 {
			t.Errorf("a repeated bid got token %d", again.Token)
		}
		after(300 * ms)
		_, err := s.Acquire(bg, bid("b", 0))
		var held *election.HeldError
		if !errors.As(err, &held) || held.Holder.ID != "a" || held.Holder.Token != 1 || held.Holder.TTL != time.Second ||
			held.Left != 700*ms || held.Holder.Left != 700*ms || held.Last != 1 {
			t.Errorf("refusal %+v", held)
		}
		after(700*ms - 1)
		if _, err := s.Acquire(bg, bid("b", 0)); err == nil {
			t.Error("granted 1ns before the end of the lease")
		}
		after(1)
		if g := win(t, s, bid("b", 41)); g.Token != 42 {
			t.Errorf("token %d above floor 41", g.Token)
		}
		m.Expire()
		_, err = s.Acquire(bg, bid("c", election.MaxToken))
		wantIs(t, err, election.ErrTokenRegressed)
		if _, held := m.Leader(); held {
			t.Error("a lease without a token")
		}
	})
}

func TestMemoryRenewAndRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		g := win(t, s, bid("a", 0))
		after(900 * ms)
		if _, err := s.Renew(bg, g); err != nil {
			t.Fatal(err)
		}
		if l, held := m.Leader(); !held || l.Left != time.Second || l.Token != 1 || l.ID != "a" {
			t.Errorf("after the renewal: %+v", l)
		}
		after(time.Second)
		_, err := s.Renew(bg, g)
		wantIs(t, err, election.ErrExpired)
		_, err = s.Release(bg, g)
		wantIs(t, err, election.ErrExpired)
		b := win(t, s, bid("b", 0))
		_, err = s.Renew(bg, g)
		wantIs(t, err, election.ErrTaken)
		_, err = s.Release(bg, g)
		wantIs(t, err, election.ErrTaken)
		var taken *election.TakenError
		if !errors.As(err, &taken) || taken.By.ID != "b" || taken.By.Token != 2 {
			t.Errorf("%v", err)
		}
		if l, held := m.Leader(); !held || l.ID != "b" {
			t.Error("a late release touched the next lease")
		}
		if _, err := s.Release(bg, b); err != nil {
			t.Error(err)
		}
		if _, held := m.Leader(); held {
			t.Error("held after its release")
		}
		if m.Calls(electiontest.OpRelease) != 3 || m.Calls(electiontest.OpRenew) != 3 || m.Calls(electiontest.OpAcquire) != 2 {
			t.Error("calls were not counted")
		}
	})
}

func TestMemoryHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		ctx, cancel := context.WithCancel(bg)
		listen := func() <-chan struct{} {
			hints, err := s.Released(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return hints
		}
		early := listen()
		if len(early) != 1 {
			t.Error("no hint although the lease is free")
		}
		<-early
		g := win(t, s, bid("a", 0))
		late := listen()
		if len(late) != 0 {
			t.Error("a hint although the lease is held")
		}
		if r, err := s.Release(bg, g); err != nil || r.Waiting != 2 || len(early) != 1 || len(late) != 1 {
			t.Errorf("%d woken, %v", r.Waiting, err)
		}
		m.Wake() // doubled hints are one
		if len(early) != 1 {
			t.Errorf("%d hints wait", len(early))
		}
		<-early
		<-late
		m.LoseHints(true)
		m.StealBy("thief")
		m.Free()
		if len(early)+len(late)+len(listen()) != 0 {
			t.Error("hints were not lost")
		}
		m.LoseHints(false)
		for _, cut := range []func(bool){m.Unreachable, m.Hang} {
			cut(true)
			m.Wake()
			if len(early)+len(listen()) != 0 {
				t.Error("a hint came through")
			}
			cut(false)
			if len(early) != 1 {
				t.Error("no hint although some may have been missed")
			}
			<-early
		}
		if m.Listeners() != 5 || m.Calls(electiontest.OpListen) != 5 {
			t.Errorf("%d listeners", m.Listeners())
		}
		cancel()
		synctest.Wait()
		m.Wake()
		if m.Listeners() != 0 || len(early) != 0 {
			t.Error("a subscription outlived its context")
		}
	})
}

func TestMemoryInspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		st, err := s.Inspect(bg)
		if err != nil || st.Leader != nil || len(st.Masters) != 1 || !st.Masters[0].Reachable || st.Masters[0].Holder != nil {
			t.Errorf("%+v, %v", st, err)
		}
		g := win(t, s, bid("a", 0))
		after(200 * ms)
		st, _ = s.Inspect(bg)
		one := st.Masters[0]
		if st.Leader == nil || st.Leader.ID != "a" || st.Leader.Left != 800*ms || st.Last != 1 ||
			one.Value != "a" || one.Holder == nil || one.Last != 1 || !one.Until.Equal(time.Now().Add(800*ms)) || !one.Now.Equal(time.Now()) {
			t.Errorf("%+v", st)
		}
		_, _ = s.Release(bg, g)
		st, _ = s.Inspect(bg)
		if st.Leader != nil || st.Masters[0].ReleasedToken != 1 || st.Last != 1 || !st.Masters[0].Until.IsZero() {
			t.Errorf("after the release %+v", st)
		}
		m.Unreachable(true)
		st, err = s.Inspect(bg)
		if err != nil || len(st.Masters) != 1 || st.Masters[0].Reachable || st.Last != 0 {
			t.Errorf("%+v, %v", st, err)
		}
		wantIs(t, st.Masters[0].Err, election.ErrUnreachable)
	})
}

func TestMemoryStealBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		if token := m.StealBy("x"); token != 1 {
			t.Errorf("token %d", token)
		}
		if l, _ := m.Leader(); l.ID != "x" || l.TTL != 15*time.Second || l.Left != 15*time.Second || l.Instance == "" {
			t.Errorf("%+v", l)
		}
		m.Free()
		g := win(t, m.Store(), bid("a", 0))
		if token := m.StealBy("x"); token != 3 || g.Token != 2 {
			t.Errorf("tokens %d, %d", g.Token, token)
		}
		if l, _ := m.Leader(); l.TTL != time.Second || l.Left != time.Second {
			t.Errorf("%+v", l)
		}
		_, err := m.Store().Renew(bg, g)
		wantIs(t, err, election.ErrTaken)
		after(time.Second)
		if _, held := m.Leader(); held {
			t.Error("a thief renews")
		}
	})
}

func TestMemoryUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		g := win(t, s, bid("a", 0))
		m.Unreachable(true)
		start := time.Now()
		_, err := s.Acquire(bg, bid("b", 0))
		wantIs(t, err, election.ErrUnreachable)
		const text = "master memory: acquire: unreachable: connection refused"
		if err.Error() != text {
			t.Errorf("text %q, want %q", err, text)
		}
		_, err = s.Renew(bg, g)
		wantIs(t, err, election.ErrUnreachable)
		_, err = s.Release(bg, g)
		wantIs(t, err, election.ErrUnreachable)
		if time.Since(start) != 0 {
			t.Error("it did not fail at once")
		}
		m.Unreachable(false)
		if _, err := s.Release(bg, g); err != nil {
			t.Error(err)
		}
	})
}

func TestMemoryHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		m.Hang(true)
		for limit, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: 5 * time.Second} {
			ctx, cancel := context.WithTimeout(bg, limit)
			start := time.Now()
			_, err := s.Acquire(ctx, bid("a", 0))
			wantIs(t, err, election.ErrUnreachable, context.DeadlineExceeded)
			if took := time.Since(start); took != want {
				t.Errorf("hung for %s, want %s", took, want)
			}
			cancel()
		}
		m.Hang(false)
		if _, held := m.Leader(); held || m.Token() != 0 {
			t.Error("a call that hung took effect")
		}
		ctx, cancel := context.WithCancel(bg)
		cancel()
		_, err := s.Acquire(ctx, bid("a", 0))
		wantIs(t, err, election.ErrUnreachable, context.Canceled)
		if m.Token() != 0 {
			t.Error("a call of a caller that had gone took effect")
		}
	})
}

func TestMemorySlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		m.Slow(200 * ms)
		start := time.Now()
		g := win(t, s, bid("a", 0))
		if took := time.Since(start); took != 200*ms {
			t.Errorf("answered after %s", took)
		}
		if l, _ := m.Leader(); l.Left != 800*ms {
			t.Errorf("it took effect late: %s left", l.Left)
		}
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, err := s.Renew(ctx, g)
		wantIs(t, err, election.ErrUnreachable, context.DeadlineExceeded)
		if l, _ := m.Leader(); l.Left != 900*ms {
			t.Errorf("the renewal did not take effect: %s left", l.Left)
		}
		m.Slow(0)
		start = time.Now()
		if _, err := s.Release(bg, g); err != nil || time.Since(start) != 0 {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// A bid whose answer is lost is undone by the store, in the background.
func TestMemoryUndoesUnansweredBids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		m.LoseReply(electiontest.OpAcquire)
		_, err := s.Acquire(bg, bid("a", 0))
		wantIs(t, err, election.ErrUnreachable)
		if err := s.Settle(bg); err != nil {
			t.Fatal(err)
		}
		if _, held := m.Leader(); held || m.Token() != 1 {
			t.Error("it was not undone, or took no effect")
		}
		m.Slow(200 * ms)
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		_, err = s.Acquire(ctx, bid("b", 0))
		wantIs(t, err, election.ErrUnreachable)
		wantIs(t, s.Settle(ctx), context.DeadlineExceeded)
		if err := s.Settle(bg); err != nil {
			t.Fatal(err)
		}
		if _, held := m.Leader(); held {
			t.Error("a bid that nobody waited for holds the lease")
		}
		m.Slow(0)
		win(t, s, bid("c", 0))
		m.LoseReply(electiontest.OpAcquire)
		_, err = s.Acquire(bg, bid("d", 0)) // refused, and nobody heard
		wantIs(t, err, election.ErrUnreachable)
		_ = s.Settle(bg)
		if l, _ := m.Leader(); l.ID != "c" {
			t.Error("undoing a refused bid touched the holder")
		}
	})
}

func TestMemoryLoseReplyAndFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		g := win(t, s, bid("a", 0))
		m.LoseReply(electiontest.OpRelease)
		after(500 * ms)
		if _, err := s.Renew(bg, g); err != nil {
			t.Errorf("another kind of call: %v", err)
		}
		_, err := s.Release(bg, g)
		wantIs(t, err, election.ErrUnreachable)
		_, err = s.Release(bg, g) // it had taken effect, and only one reply is lost
		wantIs(t, err, election.ErrExpired)

		g = win(t, s, bid("b", 0))
		m.LoseReply()
		_, err = s.Renew(bg, g)
		wantIs(t, err, election.ErrUnreachable)
		if _, err := s.Renew(bg, g); err != nil {
			t.Errorf("more than one reply was lost: %v", err)
		}

		broken := errors.New("broken")
		m.Fail(broken, electiontest.OpRenew)
		_, err = s.Renew(bg, g)
		wantIs(t, err, broken)
		if _, err := s.Release(bg, g); err != nil {
			t.Errorf("another kind of call: %v", err)
		}
		m.Fail(nil)
		m.Fail(broken)
		_, err = s.Acquire(bg, bid("c", 0))
		wantIs(t, err, broken)
		if _, held := m.Leader(); held {
			t.Error("a call that failed took effect")
		}
		m.Fail(nil)
		win(t, s, bid("d", 0))
	})
}

func TestMemoryElector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := m.Elector(election.Options{ID: "me", Logger: slog.New(slog.DiscardHandler)})
		term, err := e.Campaign(bg)
		if err != nil {
			t.Fatal(err)
		}
		after(time.Hour) // virtual, and renewed all the time
		if l, held := m.Leader(); !held || l.ID != "me" || !term.Valid() {
			t.Errorf("%+v", l)
		}
		if err := e.Close(bg); err != nil {
			t.Error(err)
		}
	})
	defer func() {
		var oe *election.OptionError
		if err, _ := recover().(error); !errors.As(err, &oe) {
			t.Errorf("wrong options: recovered %v", err)
		}
	}()
	electiontest.NewMemory().Elector(election.Options{TTL: 1})
}
