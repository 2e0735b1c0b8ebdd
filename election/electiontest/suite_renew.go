package electiontest

import (
	"context"
	"errors"
	"testing"
	"time"

	"incumbent/election"
)

var renewChecks = []check{
	{"RenewOurs", renewOurs},
	{"RenewAHundredTimes", renewAHundredTimes},
	{"RenewTaken", renewTaken},
	{"RenewExpired", renewExpired},
	{"RenewComparesTheWholeValue", renewComparesTheWholeValue},
	{"RenewAfterReleaseRevivesNothing", renewAfterRelease},
	{"RenewWithEndedContext", renewWithEndedContext},
	{"RenewHealsAMinority", renewHealsAMinority},
	{"RenewWithoutAMajority", renewWithoutAMajority},
}

func renewOurs(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	s.Wait(s.TTL / 3)
	_, before := s.Lease(0)
	g2, err := st.Renew(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	settle(t, st)
	if g2.Token != g.Token || g2.Value != g.Value || g2.Held < s.majority() {
		t.Errorf("renewed grant %+v, before %+v", g2, g)
	}
	for i := range s.Masters {
		if _, left := s.Lease(i); left <= before || left > s.TTL {
			t.Errorf("master %d keeps the lease for %s, before %s, TTL %s", i, left, before, s.TTL)
		}
	}
	for i, m := range inspect(t, st).Masters {
		if until := m.Until.Sub(m.Now); until <= before || until > s.TTL {
			t.Errorf("master %d says that the lease runs for %s, before %s, TTL %s", i, until, before, s.TTL)
		}
	}
}

// renewAHundredTimes: through the first handle and through the newest alike,
// with one token throughout.
func renewAHundredTimes(t *testing.T, s *Setup) {
	st := s.Open()
	first := win(t, st, s.bid("ann"))
	g := first
	for i := range 100 {
		use := g
		if i%3 == 0 {
			use = first
		}
		var err error
		if g, err = st.Renew(t.Context(), use); err != nil {
			t.Fatalf("renewal %d: %v", i, err)
		}
		if g.Token != first.Token {
			t.Fatalf("renewal %d has token %d, the term %d", i, g.Token, first.Token)
		}
	}
	settle(t, st)
	state := inspect(t, st)
	if state.Last < first.Token || state.Leader == nil || state.Leader.Token != first.Token {
		t.Errorf("after 100 renewals of term %d the store says %+v, last %d", first.Token, state.Leader, state.Last)
	}
}

// overtake makes bob hold the lease that ann believes to have.
func overtake(t *testing.T, s *Setup) (ann, bob election.Store, old, now election.Grant) {
	t.Helper()
	ann, bob = s.Open(), s.Open()
	old = win(t, ann, s.bid("ann"))
	settle(t, ann)
	s.deleteAll()
	now = win(t, bob, s.bid("bob"))
	settle(t, bob)
	if now.Token <= old.Token {
		t.Errorf("token %d after %d", now.Token, old.Token)
	}
	return ann, bob, old, now
}

func renewTaken(t *testing.T, s *Setup) {
	ann, bob, old, now := overtake(t, s)
	s.Wait(s.TTL / 4)
	_, before := s.Lease(0)
	_, err := ann.Renew(t.Context(), old)
	var taken *election.TakenError
	if !errors.Is(err, election.ErrTaken) || errors.Is(err, election.ErrExpired) || !errors.As(err, &taken) {
		t.Fatalf("renewal of a lease that bob has: %v", err)
	}
	if taken.By.ID != "bob" || taken.By.Token != now.Token {
		t.Errorf("taken by %q with token %d, want bob and %d", taken.By.ID, taken.By.Token, now.Token)
	}
	settle(t, ann)
	s.mustHold(t, now.Value)
	if _, left := s.Lease(0); left > before {
		t.Errorf("bob's lease was lengthened from %s to %s", before, left)
	}
	if _, err := bob.Renew(t.Context(), now); err != nil {
		t.Errorf("bob's renewal: %v", err)
	}
	settle(t, bob)
}

func renewExpired(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	s.deleteAll()
	for range 2 {
		_, err := st.Renew(t.Context(), g)
		if !errors.Is(err, election.ErrExpired) || errors.Is(err, election.ErrTaken) {
			t.Errorf("renewal of a lease that is gone: %v", err)
		}
		settle(t, st)
		s.mustHold(t, "")
	}
}

func renewComparesTheWholeValue(t *testing.T, s *Setup) {
	for _, v := range []struct{ mine, theirs string }{{"node-1", "node-10"}, {"node-10", "node-1"}} {
		ann, bob := s.Open(), s.Open()
		g := win(t, ann, s.bidAs("ann", v.mine))
		settle(t, ann)
		s.deleteAll()
		rival := win(t, bob, s.bidAs("bob", v.theirs))
		settle(t, bob)
		if _, err := ann.Renew(t.Context(), g); !errors.Is(err, election.ErrTaken) {
			t.Errorf("%s renews the lease of %s: %v", v.mine, v.theirs, err)
		}
		if _, err := ann.Release(t.Context(), g); !errors.Is(err, election.ErrTaken) {
			t.Errorf("%s releases the lease of %s: %v", v.mine, v.theirs, err)
		}
		settle(t, ann)
		s.mustHold(t, v.theirs)
		release(t, bob, rival)
	}
}

func renewAfterRelease(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	release(t, st, g)
	if _, err := st.Renew(t.Context(), g); !errors.Is(err, election.ErrExpired) {
		t.Errorf("renewal after the release: %v", err)
	}
	settle(t, st)
	s.mustHold(t, "")
}

func renewWithEndedContext(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := st.Renew(ctx, g)
	if err == nil || errors.Is(err, election.ErrTaken) || errors.Is(err, election.ErrExpired) || !errors.Is(err, context.Canceled) {
		t.Errorf("renewal with an ended context: %v", err)
	}
	settle(t, st)
	if _, err := st.Renew(t.Context(), g); err != nil {
		t.Errorf("renewal with a good context after that: %v", err)
	}
	settle(t, st)
}

// renewHealsAMinority: masters that lost the lease do not end a term that a
// majority still holds, and have it again afterwards (R12).
func renewHealsAMinority(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	for i := range s.Masters - s.majority() {
		s.Delete(i)
	}
	if _, err := st.Renew(t.Context(), g); err != nil {
		t.Fatalf("renewal with a majority left: %v", err)
	}
	settle(t, st)
	s.mustHold(t, g.Value)
	g2, err := st.Renew(t.Context(), g)
	if err != nil || g2.Token != g.Token || g2.Held != s.Masters {
		t.Errorf("the next renewal: held by %d, token %d (%d), %v", g2.Held, g2.Token, g.Token, err)
	}
	settle(t, st)
}

// renewWithoutAMajority: fewer masters than a majority still hold the lease, so
// it is lost, and nothing is put back.
func renewWithoutAMajority(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	for i := range s.majority() {
		s.Delete(i)
	}
	s.Wait(time.Millisecond)
	if _, err := st.Renew(t.Context(), g); !errors.Is(err, election.ErrExpired) {
		t.Errorf("renewal without a majority: %v", err)
	}
	settle(t, st)
	if n := s.held(g.Value); n > s.Masters-s.majority() {
		t.Errorf("%d of %d masters hold the lease again", n, s.Masters)
	}
}
