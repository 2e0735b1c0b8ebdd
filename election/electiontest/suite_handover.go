package electiontest

import (
	"context"
	"testing"
	"time"

	"incumbent/election"
)

var handOverChecks = []check{
	{"ResignHandsOver", resignHandsOver},
	{"HandOverTwentyTimes", handOverTwentyTimes},
	{"StandbysGoFirst", standbysGoFirst},
	{"CrashedLeaderIsReplaced", crashedLeaderIsReplaced},
	{"KeepHandsOver", keepHandsOver},
}

// resignHandsOver: a standby leads long before the lease would have run out.
func resignHandsOver(t *testing.T, s *Setup) {
	a, b := s.elector(t, "ann"), s.elector(t, "bob")
	term := s.lead(t, a)
	waiting := campaign(t.Context(), b)
	s.Wait(s.TTL / 2)
	if err := term.Resign(t.Context()); err != nil {
		t.Errorf("resign: %v", err)
	}
	next := receive(t, waiting, s.TTL/2, "a standby's turn after a resignation")
	if next.err != nil || next.term.Token() <= term.Token() || term.Valid() {
		t.Errorf("standby: %v; the old term is valid: %t", next.err, term.Valid())
	}
	shut(t, a, b)
}

// handOverTwentyTimes: back and forth, tokens strictly increase, and never do
// both lead.
func handOverTwentyTimes(t *testing.T, s *Setup) {
	e := []election.Elector{s.elector(t, "ann"), s.elector(t, "bob")}
	term := s.lead(t, e[0])
	for i := range 20 {
		waiting := campaign(t.Context(), e[(i+1)%2])
		s.Wait(20 * time.Millisecond)
		if err := term.Resign(t.Context()); err != nil {
			t.Errorf("resign: %v", err)
		}
		next := receive(t, waiting, s.limit(), "the other one's turn")
		if next.err != nil {
			t.Fatal(next.err)
		}
		if term.Valid() || next.term.Token() <= term.Token() {
			t.Fatalf("hand-over %d: the old term is valid: %t, token %d after %d", i, term.Valid(), next.term.Token(), term.Token())
		}
		term = next.term
	}
	shut(t, e...)
}

// standbysGoFirst: whoever resigns and campaigns again at once does not win its
// own lease back while others wait.
func standbysGoFirst(t *testing.T, s *Setup) {
	a, b := s.elector(t, "ann"), s.elector(t, "bob")
	term := s.lead(t, a)
	other := campaign(t.Context(), b)
	s.Wait(s.TTL / 2)
	if err := term.Resign(t.Context()); err != nil {
		t.Errorf("resign: %v", err)
	}
	again := campaign(t.Context(), a)
	r := receive(t, other, s.TTL/2, "the standby's turn")
	if r.err != nil {
		t.Fatal(r.err)
	}
	shut(t, b)
	if r := receive(t, again, s.limit(), "the first one's second turn"); r.err != nil {
		t.Fatal(r.err)
	}
	shut(t, a)
}

// crashedLeaderIsReplaced: a lease that nobody renews blocks others for a TTL
// and no longer.
func crashedLeaderIsReplaced(t *testing.T, s *Setup) {
	dead, b := s.Open(), s.elector(t, "bob")
	g := win(t, dead, s.bid("ann"))
	settle(t, dead)
	start := time.Now()
	term := s.lead(t, b)
	if took := time.Since(start); took < s.TTL/2 || took > 2*s.TTL {
		t.Errorf("replaced after %s, TTL %s", took, s.TTL)
	}
	if term.Token() <= g.Token {
		t.Errorf("token %d after %d", term.Token(), g.Token)
	}
	shut(t, b)
}

func keepHandsOver(t *testing.T, s *Setup) {
	a, b := s.elector(t, "ann"), s.elector(t, "bob")
	leads := func(k *election.Keeper) func() bool {
		return func() bool { _, ok := k.Term(); return ok && k.IsLeader(t.Context()) == nil }
	}
	ka := election.Keep(t.Context(), a)
	s.eventually(t, s.limit(), "ann leads", leads(ka))
	kb := election.Keep(t.Context(), b)
	s.Wait(s.TTL / 4)
	if leads(kb)() {
		t.Error("bob leads as well")
	}
	stop(t, ka)
	s.eventually(t, s.limit(), "bob leads", leads(kb))
	stop(t, kb)
	shut(t, a, b)
}

func stop(t *testing.T, k *election.Keeper) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := k.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}
