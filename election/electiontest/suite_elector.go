package electiontest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"incumbent/election"
)

var electorChecks = []check{
	{"CampaignWins", campaignWins},
	{"CampaignWhileLeading", campaignWhileLeading},
	{"CampaignGivesUp", campaignGivesUp},
	{"CampaignGivesUpAtOnce", campaignGivesUpAtOnce},
	{"TermIsRenewed", termIsRenewed},
	{"TermExpires", termExpires},
	{"TermIsTaken", termIsTaken},
	{"ResignIsIdempotent", resignIsIdempotent},
	{"ResignLeavesSilence", resignLeavesSilence},
	{"CloseResigns", closeResigns},
	{"CloseWhileCampaigning", closeWhileCampaigning},
	{"RunReturnsWhatTheWorkReturns", runReturns},
	{"RunGivesBackAfterAPanic", runAfterPanic},
	{"LeaderAndObserve", leaderAndObserve},
	{"SameIDTwice", sameIDTwice},
}

// elector makes a candidate, and closes it when the test ends.
func (s *Setup) elector(t *testing.T, id string, change ...func(*election.Options)) election.Elector {
	t.Helper()
	o := s.Options
	o.ID, o.TTL = id, s.TTL
	for _, f := range change {
		f(&o)
	}
	e, err := election.New(s.Open(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a bubble does not end while an elector of a failed test leads
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = e.Close(ctx)
	})
	return e
}

// shut closes electors; each test does so at its end, inside its bubble.
func shut(t *testing.T, electors ...election.Elector) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, e := range electors {
		if err := e.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// lead campaigns and must win soon.
func (s *Setup) lead(t *testing.T, e election.Elector) *election.Term {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.limit())
	defer cancel()
	term, err := e.Campaign(ctx)
	if err != nil {
		t.Fatalf("campaign: %v", err)
	}
	return term
}

// result is what Campaign returned.
type result struct {
	term *election.Term
	err  error
}

// campaign runs Campaign in the background.
func campaign(ctx context.Context, e election.Elector) <-chan result {
	c := make(chan result, 1)
	go func() {
		term, err := e.Campaign(ctx)
		c <- result{term, err}
	}()
	return c
}

func campaignWins(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	term := s.lead(t, e)
	if !term.Valid() || term.Token() == 0 || term.Context().Err() != nil || term.Loss() != nil {
		t.Errorf("a fresh term: valid %t, token %d, %v", term.Valid(), term.Token(), term.Context().Err())
	}
	if r := term.Remaining(); r <= 0 || r > s.TTL-s.TTL/100-2*time.Millisecond {
		t.Errorf("%s remain of a TTL of %s", r, s.TTL)
	}
	shut(t, e)
	if term.Valid() || !errors.Is(context.Cause(term.Context()), election.ErrResigned) {
		t.Errorf("after Close: valid %t, cause %v", term.Valid(), context.Cause(term.Context()))
	}
	s.mustHold(t, "")
}

func campaignWhileLeading(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	term := s.lead(t, e)
	if _, err := e.Campaign(t.Context()); !errors.Is(err, election.ErrHeld) {
		t.Errorf("a second campaign: %v", err)
	}
	if !term.Valid() {
		t.Error("the first term did not survive it")
	}
	shut(t, e)
}

func campaignGivesUp(t *testing.T, s *Setup) {
	a, b := s.elector(t, "ann"), s.elector(t, "bob")
	term := s.lead(t, a)
	ctx, cancel := context.WithTimeout(t.Context(), s.TTL/3)
	defer cancel()
	_, err := b.Campaign(ctx)
	if !errors.Is(err, election.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a campaign that ran out of time: %v", err)
	}
	if !term.Valid() {
		t.Error("the leader lost its term")
	}
	shut(t, b, a)
}

func campaignGivesUpAtOnce(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Campaign(ctx)
	if !errors.Is(err, election.ErrNotAcquired) || !errors.Is(err, context.Canceled) {
		t.Errorf("a campaign with an ended context: %v", err)
	}
	shut(t, e)
	s.mustHold(t, "")
}

func termIsRenewed(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	term := s.lead(t, e)
	first := term.Deadline()
	s.Wait(3 * s.TTL)
	if !term.Valid() || !term.Deadline().After(first.Add(s.TTL)) {
		t.Errorf("after three TTLs: valid %t, deadline moved by %s", term.Valid(), term.Deadline().Sub(first))
	}
	value, _ := s.Lease(0)
	if value == "" || s.held(value) < s.majority() {
		t.Errorf("%d masters store the lease %q", s.held(value), value)
	}
	shut(t, e)
}

// termExpires: the lease is deleted; the term ends within a renewal interval,
// says why, and the elector leads again with a larger token.
func termExpires(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	term := s.lead(t, e)
	s.deleteAll()
	receive(t, term.Context().Done(), s.TTL, "the end of a term without a lease")
	var loss *election.Loss
	if cause := context.Cause(term.Context()); !errors.As(cause, &loss) || !errors.Is(cause, election.ErrExpired) || loss.Word() != "expired" {
		t.Errorf("cause %v", context.Cause(term.Context()))
	}
	if term.Valid() {
		t.Error("still valid")
	}
	if again := s.lead(t, e); again.Token() <= term.Token() {
		t.Errorf("token %d after %d", again.Token(), term.Token())
	}
	shut(t, e)
}

func termIsTaken(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	term := s.lead(t, e)
	thief := s.Open()
	if _, err := thief.Acquire(t.Context(), s.bid("bob")); err == nil { // its connections stand now
		t.Error("bob acquires ann's lease")
	}
	settle(t, thief)
	s.Wait(s.TTL / 10) // between the early renewal of a term and the next one
	s.deleteAll()
	g := winAfter(t, s, thief, s.bid("bob"))
	receive(t, term.Context().Done(), s.TTL, "the end of a stolen term")
	cause := context.Cause(term.Context())
	var taken *election.TakenError
	if !errors.Is(cause, election.ErrTaken) || !errors.As(cause, &taken) || taken.By.ID != "bob" || taken.By.Token != g.Token {
		t.Errorf("cause %v", cause)
	}
	if _, err := thief.Renew(t.Context(), g); err != nil {
		t.Errorf("the thief's renewal: %v", err)
	}
	release(t, thief, g)
	shut(t, e)
}

func resignIsIdempotent(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	term := s.lead(t, e)
	for range 2 {
		if err := term.Resign(t.Context()); err != nil {
			t.Errorf("resign: %v", err)
		}
		if term.Valid() || !errors.Is(context.Cause(term.Context()), election.ErrResigned) {
			t.Errorf("after Resign: valid %t, cause %v", term.Valid(), context.Cause(term.Context()))
		}
	}
	shut(t, e)
	s.mustHold(t, "")
}

// resignLeavesSilence: once a term was given back, nothing more is sent for it
// (case A22).
func resignLeavesSilence(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	for range 20 {
		term := s.lead(t, e)
		if err := term.Resign(t.Context()); err != nil {
			t.Errorf("resign: %v", err)
		}
	}
	shut(t, e)
	s.mustHold(t, "")
	if s.Commands == nil {
		return
	}
	before := s.Commands()
	s.Wait(s.TTL) // three renewal intervals
	if n := s.Commands() - before; n != 0 {
		t.Errorf("%d commands after the last term was given back", n)
	}
	s.mustHold(t, "")
}

func closeResigns(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	s.lead(t, e)
	shut(t, e, e)
	s.mustHold(t, "")
	if _, err := e.Campaign(t.Context()); !errors.Is(err, election.ErrClosed) {
		t.Errorf("campaign after Close: %v", err)
	}
}

func closeWhileCampaigning(t *testing.T, s *Setup) {
	a, b := s.elector(t, "ann"), s.elector(t, "bob")
	s.lead(t, a)
	waiting := campaign(t.Context(), b)
	s.Wait(s.TTL / 4)
	shut(t, b)
	if r := receive(t, waiting, s.limit(), "the end of the campaign"); !errors.Is(r.err, election.ErrClosed) {
		t.Errorf("campaign of a closed elector: %v", r.err)
	}
	shut(t, a)
}

func runReturns(t *testing.T, s *Setup) {
	boom := errors.New("boom")
	for _, want := range []error{nil, boom} {
		e := s.elector(t, "ann")
		err := election.Run(t.Context(), e, func(context.Context, *election.Term) error { return want })
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("Run returns %v, the work %v", err, want)
		}
		shut(t, e)
		s.mustHold(t, "")
	}
}

func runAfterPanic(t *testing.T, s *Setup) {
	e := s.elector(t, "ann")
	err := election.Run(t.Context(), e, func(context.Context, *election.Term) error { panic("boom") })
	var p *election.PanicError
	if !errors.As(err, &p) || p.Value != "boom" {
		t.Errorf("Run returns %v", err)
	}
	shut(t, e)
	s.mustHold(t, "")
}

func leaderAndObserve(t *testing.T, s *Setup) {
	a, b := s.elector(t, "ann"), s.elector(t, "bob")
	if _, err := b.Leader(t.Context()); !errors.Is(err, election.ErrNoLeader) {
		t.Errorf("leader of a new election: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	type seen struct {
		l   election.Leader
		err error
	}
	changes := make(chan seen, 100)
	go func() {
		defer close(changes)
		for l, err := range b.Observe(ctx) {
			changes <- seen{l, err}
		}
	}()
	if c := receive(t, changes, s.limit(), "the first look"); !errors.Is(c.err, election.ErrNoLeader) {
		t.Errorf("observed first: %+v", c)
	}
	term := s.lead(t, a)
	if c := receive(t, changes, s.limit(), "the new leader"); c.err != nil || c.l.ID != "ann" || c.l.Token != term.Token() {
		t.Errorf("observed second: %+v", c)
	}
	l, err := b.Leader(t.Context())
	if err != nil || l.ID != "ann" || l.Token != term.Token() || l.Left <= 0 || l.Left > s.TTL {
		t.Errorf("leader %+v, %v", l, err)
	}
	shut(t, a)
	if c := receive(t, changes, s.limit(), "the end of the term"); !errors.Is(c.err, election.ErrNoLeader) {
		t.Errorf("observed third: %+v", c)
	}
	cancel()
	for range changes { // until Observe has ended
	}
	shut(t, b)
}

// sameIDTwice: ownership does not depend on the name (case C16).
func sameIDTwice(t *testing.T, s *Setup) {
	a, b := s.elector(t, "twin"), s.elector(t, "twin")
	term := s.lead(t, a)
	waiting := campaign(t.Context(), b)
	var both atomic.Bool
	for range 20 {
		s.Wait(s.TTL / 10)
		select {
		case r := <-waiting:
			both.Store(r.err == nil && term.Valid())
			t.Fatalf("the twin's campaign ended: %v", r.err)
		default:
		}
	}
	if both.Load() || !term.Valid() {
		t.Errorf("both lead %t, the first leads %t", both.Load(), term.Valid())
	}
	shut(t, a)
	if r := receive(t, waiting, s.limit(), "the twin's turn"); r.err != nil || r.term.Token() <= term.Token() {
		t.Errorf("the twin's campaign: %v", r.err)
	}
	shut(t, b)
}
