package electiontest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"incumbent/election"
)

var acquireChecks = []check{
	{"AcquireFree", acquireFree},
	{"AcquireHeld", acquireHeld},
	{"AcquireOwnValueAgain", acquireOwnValueAgain},
	{"AcquireAfterExpiry", acquireAfterExpiry},
	{"AcquireWithEndedContext", acquireWithEndedContext},
	{"AcquireAtOnce", acquireAtOnce},
	{"AcquireFloor", acquireFloor},
	{"AcquireAboveTheLastToken", acquireAboveTheLastToken},
}

func acquireFree(t *testing.T, s *Setup) {
	st := s.Open()
	b := s.bid("ann")
	g := win(t, st, b)
	if g.Token == 0 || g.Token > election.MaxToken {
		t.Errorf("token %d", g.Token)
	}
	if g.Value != b.Value || g.TTL != b.TTL || g.Candidate.ID != "ann" {
		t.Errorf("the grant is for another bid: %+v", g.Bid)
	}
	if g.Masters != s.Masters || g.Held < s.majority() || g.Held > s.Masters {
		t.Errorf("held by %d of %d masters, there are %d", g.Held, g.Masters, s.Masters)
	}
	settle(t, st)
	s.mustHold(t, b.Value)
	for i := range s.Masters {
		if _, left := s.Lease(i); left <= 0 || left > b.TTL {
			t.Errorf("master %d keeps the lease for %s, TTL %s", i, left, b.TTL)
		}
	}
}

func acquireHeld(t *testing.T, s *Setup) {
	a, b := s.Open(), s.Open()
	first := s.bid("ann")
	g := win(t, a, first)
	settle(t, a)
	_, err := b.Acquire(t.Context(), s.bid("bob"))
	var held *election.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("a held lease: %v (%T)", err, err)
	}
	if !errors.Is(err, election.ErrNotAcquired) || errors.Is(err, election.ErrContended) || election.Permanent(err) {
		t.Errorf("error matches the wrong kinds: %v", err)
	}
	h := held.Holder
	if h.ID != "ann" || h.Instance != first.Candidate.Instance || h.Host != first.Candidate.Host || h.PID != 7 ||
		h.Metadata["note"] != first.Candidate.Metadata["note"] {
		t.Errorf("holder is %+v", h.Candidate)
	}
	if h.Token != g.Token || held.Last < g.Token || h.TTL != first.TTL {
		t.Errorf("holder has token %d and TTL %s, last is %d; want %d and %s", h.Token, h.TTL, held.Last, g.Token, first.TTL)
	}
	if held.Left <= 0 || held.Left > first.TTL || held.Left < first.TTL/4 {
		t.Errorf("%s left of %s", held.Left, first.TTL)
	}
	if !strings.Contains(err.Error(), `"ann"`) {
		t.Errorf("the error does not name the holder: %v", err)
	}
	settle(t, b)
	s.mustHold(t, first.Value)
}

func acquireOwnValueAgain(t *testing.T, s *Setup) {
	a, again := s.Open(), s.Open()
	b := s.bid("ann")
	g := win(t, a, b)
	settle(t, a)
	for _, st := range []election.Store{a, again} {
		g2, err := st.Acquire(t.Context(), b)
		if err != nil {
			t.Fatalf("the same bid again: %v", err)
		}
		if g2.Token != g.Token {
			t.Errorf("the same bid again has token %d, before %d", g2.Token, g.Token)
		}
		settle(t, st)
	}
	s.mustHold(t, b.Value)
}

func acquireAfterExpiry(t *testing.T, s *Setup) {
	a, b := s.Open(), s.Open()
	g := win(t, a, s.bid("ann"))
	settle(t, a)
	s.Wait(s.TTL + 20*time.Millisecond)
	s.mustHold(t, "")
	if g2 := win(t, b, s.bid("bob")); g2.Token <= g.Token {
		t.Errorf("token %d after %d", g2.Token, g.Token)
	}
	settle(t, b)
}

func acquireWithEndedContext(t *testing.T, s *Setup) {
	st := s.Open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := st.Acquire(ctx, s.bid("ann"))
	var held *election.HeldError
	if !errors.Is(err, context.Canceled) || errors.As(err, &held) {
		t.Errorf("acquire with an ended context: %v", err)
	}
	settle(t, st)
	s.mustHold(t, "")
}

// acquireAtOnce lets many bid in the same instant: no two of them may win.
func acquireAtOnce(t *testing.T, s *Setup) {
	const n = 8
	stores := make([]election.Store, n)
	errs := make([]error, n)
	for i := range stores {
		stores[i] = s.Open()
	}
	var wg sync.WaitGroup
	for i, st := range stores {
		b := s.bid(string(rune('a' + i)))
		wg.Go(func() { _, errs[i] = st.Acquire(t.Context(), b) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		var held *election.HeldError
		switch {
		case err == nil:
			won++
		case !errors.As(err, &held) && !errors.Is(err, election.ErrContended):
			t.Errorf("a lost bid: %v", err)
		}
	}
	if won > 1 || won == 0 && s.Masters == 1 {
		t.Errorf("%d bids won", won)
	}
	settle(t, stores...)
	values := map[string]int{}
	for i := range s.Masters {
		if v, _ := s.Lease(i); v != "" {
			values[v]++
		}
	}
	if len(values) != won {
		t.Errorf("after all losers were undone masters store %v, %d won", values, won)
	}
}

func acquireFloor(t *testing.T, s *Setup) {
	st := s.Open()
	b := s.bid("ann")
	b.Floor = 1 << 50
	if g := win(t, st, b); g.Token <= b.Floor {
		t.Errorf("token %d with a floor of %d", g.Token, b.Floor)
	}
	settle(t, st)
}

// acquireAboveTheLastToken: no token is left, so there is no term, and no lease
// stays behind.
func acquireAboveTheLastToken(t *testing.T, s *Setup) {
	st := s.Open()
	b := s.bid("ann")
	b.Floor = election.MaxToken
	if g, err := st.Acquire(t.Context(), b); err == nil {
		t.Errorf("token %d with a floor of %d", g.Token, b.Floor)
	}
	settle(t, st)
	s.mustHold(t, "")
}
