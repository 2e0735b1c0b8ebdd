package electiontest

import (
	"context"
	"errors"
	"testing"

	"incumbent/election"
)

var releaseChecks = []check{
	{"ReleaseOurs", releaseOurs},
	{"ReleaseExpired", releaseExpired},
	{"ReleaseTaken", releaseTaken},
	{"ReleaseTwice", releaseTwice},
	{"ReleaseOfTermOneSparesTermTwo", releaseOfTermOne},
	{"ReleaseWithEndedContext", releaseWithEndedContext},
	{"SettleWithNothingToDo", settleWithNothingToDo},
}

// release gives a lease back and waits until that is done everywhere.
func release(t *testing.T, st election.Store, g election.Grant) election.Released {
	t.Helper()
	r, err := st.Release(t.Context(), g)
	if err != nil {
		t.Fatalf("release: %v", err)
	}
	settle(t, st)
	return r
}

func releaseOurs(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	release(t, st, g)
	s.mustHold(t, "")
	if g2 := win(t, s.Open(), s.bid("bob")); g2.Token <= g.Token {
		t.Errorf("token %d after %d", g2.Token, g.Token)
	}
}

func releaseExpired(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	s.deleteAll()
	_, err := st.Release(t.Context(), g)
	if !errors.Is(err, election.ErrExpired) || errors.Is(err, election.ErrTaken) {
		t.Errorf("release of a lease that is gone: %v", err)
	}
	settle(t, st)
}

func releaseTaken(t *testing.T, s *Setup) {
	ann, bob, old, now := overtake(t, s)
	_, err := ann.Release(t.Context(), old)
	if !errors.Is(err, election.ErrTaken) || errors.Is(err, election.ErrExpired) {
		t.Errorf("release of a lease that bob has: %v", err)
	}
	settle(t, ann)
	s.mustHold(t, now.Value)
	if _, err := bob.Renew(t.Context(), now); err != nil {
		t.Errorf("bob's renewal: %v", err)
	}
	settle(t, bob)
}

func releaseTwice(t *testing.T, s *Setup) {
	ann, bob := s.Open(), s.Open()
	g := win(t, ann, s.bid("ann"))
	release(t, ann, g)
	if _, err := ann.Release(t.Context(), g); err != nil && !errors.Is(err, election.ErrExpired) {
		t.Errorf("second release: %v", err)
	}
	settle(t, ann)
	rival := win(t, bob, s.bid("bob"))
	settle(t, bob)
	if _, err := ann.Release(t.Context(), g); err == nil {
		t.Error("a third release, while bob leads, says that it released something")
	}
	settle(t, ann)
	s.mustHold(t, rival.Value)
}

// releaseOfTermOne: two terms of one candidate through one store.
func releaseOfTermOne(t *testing.T, s *Setup) {
	st := s.Open()
	one := win(t, st, s.bid("ann"))
	settle(t, st)
	s.deleteAll()
	two := win(t, st, s.bid("ann"))
	settle(t, st)
	if _, err := st.Release(t.Context(), one); !errors.Is(err, election.ErrTaken) {
		t.Errorf("late release of the first term: %v", err)
	}
	if _, err := st.Renew(t.Context(), one); !errors.Is(err, election.ErrTaken) {
		t.Errorf("late renewal of the first term: %v", err)
	}
	settle(t, st)
	s.mustHold(t, two.Value)
	if _, err := st.Renew(t.Context(), two); err != nil {
		t.Errorf("renewal of the second term: %v", err)
	}
	settle(t, st)
}

// releaseWithEndedContext: a release that was not sent is not remembered as
// done.
func releaseWithEndedContext(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := st.Release(ctx, g); !errors.Is(err, context.Canceled) {
		t.Errorf("release with an ended context: %v", err)
	}
	settle(t, st)
	if _, err := st.Release(t.Context(), g); err != nil && !errors.Is(err, election.ErrExpired) {
		t.Errorf("release with a good context after that: %v", err)
	}
	settle(t, st)
	s.mustHold(t, "")
}

func settleWithNothingToDo(t *testing.T, s *Setup) {
	st := s.Open()
	settle(t, st)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := st.Settle(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("settle with an ended context: %v", err)
	}
}
