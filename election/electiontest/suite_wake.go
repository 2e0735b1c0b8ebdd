package electiontest

import (
	"context"
	"testing"
	"time"

	"incumbent/election"
)

var wakeChecks = []check{
	{"ReleaseWakesStandbys", releaseWakesStandbys},
	{"HintsEndWithTheirContext", hintsEnd},
	{"SettleDoesNotWaitForListeners", settleWithListeners},
}

// listen subscribes and waits until the subscription stands.
func listen(t *testing.T, s *Setup, ctx context.Context, st election.Store) <-chan struct{} {
	t.Helper()
	hints, err := st.Released(ctx)
	if err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	s.Wait(s.TTL / 4)
	drain(hints)
	return hints
}

func drain(c <-chan struct{}) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}

func releaseWakesStandbys(t *testing.T, s *Setup) {
	ann := s.Open()
	ctx, cancel := context.WithCancel(t.Context())
	standbys := []election.Store{s.Open(), s.Open()}
	var hints []<-chan struct{}
	g := win(t, ann, s.bid("ann"))
	for _, st := range standbys {
		hints = append(hints, listen(t, s, ctx, st))
	}
	// One reply may have been slow to come; nobody else takes a lease here.
	s.eventually(t, s.limit(), "a release that reaches both standbys", func() bool {
		for _, h := range hints {
			drain(h)
		}
		r := release(t, ann, g)
		for _, h := range hints {
			receive(t, h, s.limit(), "a hint after the release")
		}
		r.Waiting /= max(s.Listeners, 1)
		if r.Waiting < 1 || r.Waiting > 2 {
			t.Errorf("%d standbys were woken, there are 2", r.Waiting)
		}
		g = winAfter(t, s, ann, s.bid("ann"))
		return r.Waiting == 2
	})
	release(t, ann, g)
	cancel()
	settle(t, standbys...)
}

func hintsEnd(t *testing.T, s *Setup) {
	ann, bob := s.Open(), s.Open()
	ctx, cancel := context.WithCancel(t.Context())
	hints := listen(t, s, ctx, bob)
	cancel()
	settle(t, bob)
	s.Wait(20 * time.Millisecond)
	drain(hints)
	g := win(t, ann, s.bid("ann"))
	r := release(t, ann, g)
	s.Wait(20 * time.Millisecond)
	select {
	case _, open := <-hints:
		if open {
			t.Error("a hint after the end of its context")
		}
	default:
	}
	if r.Waiting != 0 {
		t.Errorf("a release wakes %d standbys, there is none", r.Waiting)
	}
}

// settleWithListeners: somebody who watches for long must not hold up the
// candidate that closes.
func settleWithListeners(t *testing.T, s *Setup) {
	st := s.Open()
	ctx, cancel := context.WithCancel(t.Context())
	listen(t, s, ctx, st)
	sctx, stop := context.WithTimeout(t.Context(), s.limit())
	if err := st.Settle(sctx); err != nil {
		t.Errorf("settle while somebody listens: %v", err)
	}
	stop()
	cancel()
	settle(t, st)
}
