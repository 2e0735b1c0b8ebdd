package quorum

import (
	"context"
	"fmt"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Acquire implements election.Store: votes, then seal. When ctx ends first both
// run to their end in the background, and what they won is undone.
func (s *Store) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	if err := ctx.Err(); err != nil {
		return election.Grant{}, fmt.Errorf("acquire not sent: %w", err)
	}
	s.ping.Note(b.TTL)
	assumeNew := s.masters[0].New() // they share it, and learn otherwise while votes come in
	votes := s.newRound(newTerm(len(s.masters)), statusGranted, bound(ctx, b.TTL), func(ctx context.Context, _ int, m *vote.Master) (vote.Reply, error) {
		return m.Acquire(ctx, b, assumeNew)
	})
	var g election.Grant
	var err error
	won := make(chan struct{}) // unbuffered: either taken, or known to be abandoned
	lost := make(chan struct{})
	abandoned := make(chan struct{})
	s.back.Go(func() {
		if g, err = s.elect(ctx, votes, b); err == nil {
			select {
			case won <- struct{}{}:
				return
			case <-abandoned:
			}
		}
		s.undo(votes, b)
		close(lost)
	})
	select {
	case <-won:
		return g, nil
	case <-lost:
		return election.Grant{}, err
	case <-ctx.Done():
		close(abandoned)
		return election.Grant{}, s.failure(votes.unanswered(ctx))
	}
}

// elect gathers the votes and seals the token that they lead to.
func (s *Store) elect(ctx context.Context, votes *round, b election.Bid) (election.Grant, error) {
	start := time.Now()
	err := votes.mutex(b).TryLock()
	if same := vote.Same(s.masters); same != nil {
		return election.Grant{}, same
	}
	if err != nil {
		return election.Grant{}, s.refusal(votes.tally(), b, time.Since(start))
	}
	g := election.Grant{Bid: b, Token: votes.tally().token(b.Floor), Masters: len(s.masters), State: votes.t}
	if g.Token > election.MaxToken {
		return election.Grant{}, fmt.Errorf("%w: a master has issued %d", election.ErrTokenSpent, election.MaxToken)
	}
	if err := s.seal(ctx, votes, g); err != nil {
		return election.Grant{}, err
	}
	granted := g // late seals still read g
	granted.Held = votes.t.count()
	return granted, nil
}

// refusal says why there was no majority, or none in time. Only what answered
// can be held by somebody else.
func (s *Store) refusal(t tally, b election.Bid, took time.Duration) error {
	if len(t.yes) >= s.need {
		return fmt.Errorf("%w: it took %s of a TTL of %s", election.ErrTooSlow, took, b.TTL)
	}
	if len(t.yes)+len(t.held)+len(t.guarded) < s.need {
		// rare: too-few-answers
		return s.failure(t)
	}
	l, n := t.leader()
	if n >= s.need {
		return &election.HeldError{Holder: l, Left: t.left(s.need), Last: t.last()}
	}
	if len(t.yes)+len(t.held) < s.need {
		// rare: majority-waits-for-guards
		return t.waiting(s.need)
	}
	return fmt.Errorf("%w: %d of %d for us, at most %d for another, %d waiting for a guard",
		election.ErrContended, len(t.yes), len(s.masters), n, len(t.guarded))
}

// failure is the error of masters that failed.
func (s *Store) failure(t tally) error {
	if len(t.errs) == 0 {
		t.errs = []error{errNoMajority}
	}
	return &Error{Errs: t.errs, Others: t.others, Agreed: len(t.yes), Masters: len(s.masters), Need: s.need}
}

// seal writes the token wherever our vote stands, and waits for a majority
// (R11). A late vote is sealed when it comes in. It refreshes nothing: the term
// is counted from before the votes.
func (s *Store) seal(ctx context.Context, votes *round, g election.Grant) error {
	r := s.newRound(votes.t, statusSealed, bound(ctx, g.TTL), func(ctx context.Context, i int, m *vote.Master) (vote.Reply, error) {
		if o := votes.outcome(i); o.err != nil || o.reply.Status != statusGranted {
			return o.reply, o.err // it gave us no vote: nothing to seal
		}
		return m.Seal(ctx, g.Value, g.Token)
	})
	acks := make(chan outcome, len(s.masters))
	r.follow(func(_ int, o outcome) { acks <- o })
	for i := range s.masters {
		go func() { _, _ = r.run(i) }() // its outcome comes through follow
	}
	sealed := 0
	for range s.masters {
		o := <-acks
		switch {
		case o.err == nil && o.reply.Status == statusSealed:
			sealed++
		case o.err == nil && o.reply.Status == "regressed":
			return &election.RegressedError{Offered: g.Token, Known: o.reply.Token}
		}
		if sealed >= s.need {
			return nil
		}
	}
	// rare: seal-lost
	if t := r.tally(); len(t.errs) > 0 {
		return s.failure(t)
	}
	return fmt.Errorf("%w: %d of %d still ours when the token was sealed", election.ErrContended, sealed, len(s.masters))
}

// outcome is what master i answered; only to be asked after its turn.
func (r *round) outcome(i int) outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out[i]
}

// undo releases a failed bid, at each master after its vote has returned or
// timed out (R10), and only where it may stand.
func (s *Store) undo(votes *round, b election.Bid) {
	for i, m := range s.masters {
		before, done := votes.t.lanes[i].next()
		s.back.Go(func() {
			defer close(done)
			<-before // bounded, as every call is
			o := votes.outcome(i)
			if o.reply.Status == statusGranted || o.reply.Stands || vote.MayStand(o.err) {
				// rare: vote-undone
				m.Undo(b.Value)
			}
		})
	}
}
