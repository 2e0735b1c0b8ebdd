package quorum

import (
	"context"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Renew implements election.Store. It counts only masters that already held
// the lease; those that lost it are given it back afterwards, and count from
// the next renewal on (R12).
func (s *Store) Renew(ctx context.Context, g election.Grant) (election.Grant, error) {
	t := termOf(g, len(s.masters))
	g.State, g.Masters = t, len(s.masters)
	r := s.newRound(t, statusRenewed, bound(ctx, g.TTL), func(ctx context.Context, _ int, m *vote.Master) (vote.Reply, error) {
		// One that was silent until now may turn out to be another under a second name.
		if err := m.Check(ctx); err != nil {
			return vote.Reply{}, err
		}
		return m.Renew(ctx, g)
	})
	ok, err := r.decide(ctx, func(ctx context.Context) bool {
		ok, _ := r.mutex(g.Bid).ExtendContext(ctx) // the round keeps the errors
		return ok
	})
	if err != nil {
		return g, err
	}
	if err := vote.Same(s.masters); err != nil {
		return g, err
	}
	if ok {
		r.follow(func(i int, o outcome) { s.heal(g, t, i, o) })
		renewed := g // late outcomes still read g
		renewed.Held = t.count()
		renewed.Asked = r.asked(g.Token)
		return renewed, nil
	}
	y := r.tally()
	if len(s.masters)-y.expired-len(y.held) < s.need {
		// So many say "not yours" that no majority can still hold it.
		// rare: majority-lost
		return g, gone(y)
	}
	return g, s.failure(y)
}

// asked is the request to hand over that a renewal of that term met at any master;
// one that is for another term only if there is no other.
func (r *round) asked(token election.Token) (found *election.HandOver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.out {
		if h := o.reply.Asked; h != nil && (found == nil || h.Token == token) {
			found = h
		}
	}
	return found
}

// bound is what each call of an operation on a lease of that length may take:
// no longer than ctx allows.
func bound(ctx context.Context, ttl time.Duration) time.Duration {
	d := vote.Bound(ttl)
	if at, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(at))
	}
	return max(d, time.Millisecond)
}

// heal gives the leader its vote back at a master that had lost it, once a
// majority was confirmed by masters that had not. It is a message of its own,
// and never counts for the renewal that caused it.
func (s *Store) heal(g election.Grant, t *term, i int, o outcome) {
	if o.err != nil || o.reply.Status != "expired" {
		return
	}
	before, done, ok := t.nextUnlessReleased(i)
	if !ok {
		// rare: not-healed-after-release
		return
	}
	s.back.Go(func() {
		defer close(done)
		if before != nil {
			<-before // bounded, as every call is
		}
		ctx, cancel := context.WithTimeout(context.Background(), vote.Bound(g.TTL))
		defer cancel()
		// rare: re-seat
		r, err := s.masters[i].Reseat(ctx, g)
		t.set(i, err == nil && r.Status == "reseated")
	})
}

// gone says why the lease is not ours.
func gone(t tally) error {
	if l, n := t.leader(); n > 0 {
		return &election.TakenError{By: l}
	}
	return election.ErrExpired
}
