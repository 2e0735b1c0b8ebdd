package electiontest

import (
	"errors"
	"testing"

	"incumbent/election"
)

var tokenChecks = []check{
	{"TokensGrowOverFiftyTerms", tokensGrow},
	{"TokensGrowWithoutALease", tokensGrowWithoutALease},
	{"TokensGrowAcrossAWipe", tokensGrowAcrossAWipe},
}

// tokensGrow: two candidates in turns, as fast as they can.
func tokensGrow(t *testing.T, s *Setup) {
	stores := []election.Store{s.Open(), s.Open()}
	var last election.Token
	for i := range 50 {
		st := stores[i%2]
		g := winAfter(t, s, st, s.bid([]string{"ann", "bob"}[i%2]))
		if g.Token <= last {
			t.Fatalf("term %d has token %d after %d", i, g.Token, last)
		}
		last = g.Token
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatalf("release of term %d: %v", i, err)
		}
	}
	settle(t, stores...)
}

// tokensGrowWithoutALease: the lease vanishes, its record stays; each term
// starts far above the clock, so that only the record can tell.
func tokensGrowWithoutALease(t *testing.T, s *Setup) {
	st := s.Open()
	b := s.bid("ann")
	b.Floor = 1 << 51
	last := win(t, st, b).Token
	for i := range 10 {
		settle(t, st)
		s.deleteAll()
		g := win(t, st, s.bid("ann"))
		if g.Token <= last {
			t.Fatalf("term %d has token %d after %d", i, g.Token, last)
		}
		last = g.Token
	}
	settle(t, st)
}

// tokensGrowAcrossAWipe: with every record lost, the token is still larger or
// the candidate, which remembers, is told.
func tokensGrowAcrossAWipe(t *testing.T, s *Setup) {
	if s.Wipe == nil {
		return
	}
	st := s.Open()
	last := win(t, st, s.bid("ann")).Token
	settle(t, st)
	for i := range s.Masters {
		s.Wipe(i)
	}
	b := s.bid("ann")
	b.Floor = last
	g, err := st.Acquire(t.Context(), b)
	if err != nil && !errors.Is(err, election.ErrTokenRegressed) {
		t.Fatalf("acquire after a wipe: %v", err)
	}
	if err == nil && g.Token <= last {
		t.Errorf("token %d after %d", g.Token, last)
	}
	settle(t, st)
}
