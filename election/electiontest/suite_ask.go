package electiontest

import (
	"context"
	"errors"
	"testing"
	"time"

	"incumbent/election"
)

// What a store promises that is an election.Asker. It is left out for others.
var askChecks = []check{
	{"AskNobody", asking(askNobody)},
	{"AskAnotherTerm", asking(askAnotherTerm)},
	{"AskIsHeardOnce", asking(askIsHeardOnce)},
	{"AskForAnHeir", asking(askForAnHeir)},
	{"AskForAnHeirWhoDoesNotCome", asking(askForAnHeirWhoDoesNotCome)},
	{"AskWithoutAReserve", asking(askWithoutAReserve)},
	{"AskForAnotherTermReservesNothing", asking(askForAnotherTermReservesNothing)},
	{"AskIsARequestOnly", asking(askIsARequestOnly)},
}

// asking runs a check with an asker, if the store is one.
func asking(f func(t *testing.T, s *Setup, st election.Store, a election.Asker)) func(*testing.T, *Setup) {
	return func(t *testing.T, s *Setup) {
		st := s.Open()
		if a, ok := st.(election.Asker); ok {
			f(t, s, st, a)
		}
	}
}

// reserve is for how long an heir goes first here.
func (s *Setup) reserve() time.Duration { return (s.TTL / 2).Truncate(time.Millisecond) }

// ask asks the leader or fails the test.
func ask(t *testing.T, a election.Asker, h election.HandOver) election.Leader {
	t.Helper()
	l, err := a.Ask(t.Context(), h)
	if err != nil {
		t.Fatalf("ask: %v", err)
	}
	return l
}

// askNobody: a request needs somebody who holds a lease, and leaves nothing behind.
func askNobody(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	if _, err := a.Ask(t.Context(), election.HandOver{Token: 5}); !errors.Is(err, election.ErrNoLeader) {
		t.Errorf("a new election: %v", err)
	}
	g := win(t, st, s.bid("ann"))
	release(t, st, g)
	if _, err := a.Ask(t.Context(), election.HandOver{Token: g.Token}); !errors.Is(err, election.ErrNoLeader) {
		t.Errorf("a released lease: %v", err)
	}
}

// askAnotherTerm: the request is refused, and says whose term it is.
func askAnotherTerm(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	for _, token := range []election.Token{g.Token - 1, g.Token + 1} {
		var taken *election.TakenError
		_, err := a.Ask(t.Context(), election.HandOver{Token: token})
		if !errors.Is(err, election.ErrTaken) || !errors.As(err, &taken) || taken.By.ID != "ann" || taken.By.Token != g.Token {
			t.Errorf("token %d of %d: %v", token, g.Token, err)
		}
	}
	if again := renew(t, st, g); again.Asked != nil {
		t.Errorf("a request that was refused is heard: %+v", again.Asked)
	}
}

// askIsHeardOnce: the term that was asked hears it with each renewal, the next one
// never.
func askIsHeardOnce(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	if again := renew(t, st, g); again.Asked != nil {
		t.Errorf("nobody has asked: %+v", again.Asked)
	}
	h := election.HandOver{Token: g.Token, To: "bob", By: "öp \"s\"\n"}
	l := ask(t, a, h)
	if l.ID != "ann" || l.Token != g.Token || l.Left <= 0 || l.Left > s.TTL {
		t.Errorf("asked is %+v", l)
	}
	for range 2 {
		if again := renew(t, st, g); again.Asked == nil || *again.Asked != h || again.Value != g.Value {
			t.Errorf("a renewal brings %+v", again.Asked)
		}
	}
	release(t, st, g)
	next := winAfter(t, s, st, s.bid("cid"))
	settle(t, st)
	if again := renew(t, st, next); again.Asked != nil {
		t.Errorf("the next term hears %+v", again.Asked)
	}
}

// askForAnHeir: others are refused while the heir goes first, and it is not.
func askForAnHeir(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	ask(t, a, election.HandOver{Token: g.Token, To: "bob", Reserve: s.reserve()})
	release(t, st, g)
	settle(t, st)
	for _, id := range []string{"cid", "ann", "bo", "bobby"} {
		var waits *election.GuardError
		_, err := s.Open().Acquire(t.Context(), s.bid(id))
		if !errors.As(err, &waits) || waits.Guards != election.HandOverGuard || waits.Left <= 0 || waits.Left > s.reserve() || waits.Last < g.Token {
			t.Fatalf("%s: %v", id, err)
		}
	}
	for i, m := range inspect(t, st).Masters {
		if !m.Guards.Has(election.HandOverGuard) || m.Heir != "bob" || !m.GuardUntil.After(m.Now) {
			t.Errorf("master %d does not show that it waits for bob: %+v", i, m)
		}
	}
	settle(t, st)
	next := winAfter(t, s, st, s.bid("bob"))
	settle(t, st)
	if next.Token <= g.Token {
		t.Errorf("token %d after %d", next.Token, g.Token)
	}
	for i, m := range inspect(t, st).Masters {
		if m.Guards.Has(election.HandOverGuard) || m.Heir != "" {
			t.Errorf("master %d still waits: %+v", i, m)
		}
	}
	// It has had its turn: from here on all are equal.
	release(t, st, next)
	winAfter(t, s, st, s.bid("cid"))
}

// askForAnHeirWhoDoesNotCome: after the reserve anybody may lead.
func askForAnHeirWhoDoesNotCome(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	ask(t, a, election.HandOver{Token: g.Token, To: "nobody", Reserve: s.reserve()})
	release(t, st, g)
	settle(t, st)
	s.Wait(s.reserve() + 5*time.Millisecond)
	winAfter(t, s, st, s.bid("cid"))
}

// askWithoutAReserve: then the name is no more than a wish.
func askWithoutAReserve(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	ask(t, a, election.HandOver{Token: g.Token, To: "bob"})
	release(t, st, g)
	settle(t, st)
	win(t, st, s.bid("cid"))
}

// askForAnotherTermReservesNothing: a reserve ends with the term that was asked, even
// when that ended without a release.
func askForAnotherTermReservesNothing(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	ask(t, a, election.HandOver{Token: g.Token, To: "bob", Reserve: s.reserve()})
	s.Wait(s.TTL + 10*time.Millisecond)
	next := winAfter(t, s, st, s.bid("cid"))
	release(t, st, next)
	settle(t, st)
	win(t, st, s.bid("dan"))
}

// askIsARequestOnly: a lease that was asked for is renewed and kept like any other.
func askIsARequestOnly(t *testing.T, s *Setup, st election.Store, a election.Asker) {
	g := win(t, st, s.bid("ann"))
	settle(t, st)
	ask(t, a, election.HandOver{Token: g.Token, To: "bob", Reserve: s.reserve()})
	for range 3 {
		s.Wait(s.TTL / 2)
		g = renew(t, st, g)
		settle(t, st)
	}
	var held *election.HeldError
	if _, err := s.Open().Acquire(t.Context(), s.bid("bob")); !errors.As(err, &held) || held.Holder.ID != "ann" {
		t.Errorf("the heir before the release: %v", err)
	}
	settle(t, st)
	s.mustHold(t, g.Value)
}

// What an elector does that was asked to hand over.
var askedChecks = []check{
	{"AskedLeaderHandsOver", asking(askedLeaderHandsOver)},
	{"AskedLeaderHandsOverToAnHeir", asking(askedLeaderHandsOverToAnHeir)},
}

// askedLeaderHandsOver: it resigns with its next renewal, and whoever waits leads.
func askedLeaderHandsOver(t *testing.T, s *Setup, _ election.Store, a election.Asker) {
	ann, bob := s.elector(t, "ann"), s.elector(t, "bob")
	working, term := s.work(t, ann)
	waiting := campaign(t.Context(), bob)
	s.Wait(s.TTL / 2)
	ask(t, a, election.HandOver{Token: term.Token(), By: "ops"})
	next := receive(t, waiting, s.limit(), "a standby's turn after a request")
	if next.err != nil || next.term.Token() <= term.Token() || term.Valid() {
		t.Fatalf("standby: %v; the old term is valid: %t", next.err, term.Valid())
	}
	var by *election.AskedError
	if l := term.Loss(); !errors.Is(l, election.ErrResigned) || !errors.As(l, &by) || by.By != "ops" || l.Word() != "resigned" {
		t.Errorf("the term ended with %v", l)
	}
	shut(t, ann, bob)
	if err := receive(t, working, s.limit(), "the end of Run"); !errors.Is(err, election.ErrClosed) {
		t.Errorf("run: %v", err)
	}
}

// askedLeaderHandsOverToAnHeir: the one that was asked for leads next, not the one that
// has waited longer.
func askedLeaderHandsOverToAnHeir(t *testing.T, s *Setup, _ election.Store, a election.Asker) {
	ann, bob, cid := s.elector(t, "ann"), s.elector(t, "bob"), s.elector(t, "cid")
	working, term := s.work(t, ann)
	first := campaign(t.Context(), bob)
	s.Wait(s.TTL / 2)
	heir := campaign(t.Context(), cid)
	s.Wait(s.TTL / 2)
	ask(t, a, election.HandOver{Token: term.Token(), To: "cid", Reserve: s.TTL.Truncate(time.Millisecond)})
	next := receive(t, heir, s.limit(), "the heir's turn")
	if next.err != nil || next.term.Token() <= term.Token() {
		t.Fatalf("heir: %v", next.err)
	}
	select {
	case other := <-first:
		t.Errorf("another led, too: %+v", other)
	default:
	}
	shut(t, ann, bob, cid)
	if err := receive(t, working, s.limit(), "the end of Run"); !errors.Is(err, election.ErrClosed) {
		t.Errorf("run: %v", err)
	}
	if r := receive(t, first, s.limit(), "the end of the other campaign"); !errors.Is(r.err, election.ErrClosed) {
		t.Errorf("the other campaign: %v", r.err)
	}
}

// work leads in the background, with work that stops when it is told to. It returns the
// first term.
func (s *Setup) work(t *testing.T, e election.Elector) (<-chan error, *election.Term) {
	t.Helper()
	done, terms := make(chan error, 1), make(chan *election.Term, 1)
	go func() {
		done <- election.Run(context.WithoutCancel(t.Context()), e, func(ctx context.Context, term *election.Term) error {
			select {
			case terms <- term:
			default: // a later one
			}
			<-ctx.Done()
			return nil
		})
	}()
	return done, receive(t, terms, s.limit(), "the first term")
}

// renew renews or fails the test.
func renew(t *testing.T, st election.Store, g election.Grant) election.Grant {
	t.Helper()
	again, err := st.Renew(t.Context(), g)
	if err != nil {
		t.Fatalf("renewal: %v", err)
	}
	return again
}
