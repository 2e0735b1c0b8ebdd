package quorum

import (
	"context"
	"fmt"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Release implements election.Store. It returns with the fastest majority; the
// others are released in the background.
func (s *Store) Release(ctx context.Context, g election.Grant) (election.Released, error) {
	t := termOf(g, len(s.masters))
	if err := ctx.Err(); err != nil {
		return election.Released{}, fmt.Errorf("release not sent: %w", err)
	}
	t.release()
	// Twice the timeout: a release may have to wait for the call before it.
	r := s.newRound(t, statusReleased, 2*s.masters[0].Timeout, func(ctx context.Context, i int, m *vote.Master) (vote.Reply, error) {
		reply, err := m.Release(ctx, g.Value, g.Token)
		return t.again(i, reply, err)
	})
	ok, err := r.decide(ctx, func(ctx context.Context) bool {
		ok, _ := r.mutex(g.Bid).UnlockContext(ctx) // the round keeps the errors
		return ok
	})
	if err != nil {
		return election.Released{}, err
	}
	y := r.tally()
	var released election.Released
	for _, reply := range y.yes {
		released.Waiting = max(released.Waiting, reply.Waiting)
	}
	switch {
	case ok:
		return released, nil
	case len(s.masters)-y.expired-len(y.held) < s.need:
		return released, gone(y)
	}
	// rare: release-unknown
	return released, s.failure(y)
}

// again makes a release idempotent: a lease that is gone after an earlier
// release whose outcome was unknown was released by it.
func (t *term) again(i int, reply vote.Reply, err error) (vote.Reply, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && reply.Status == "expired" && t.undone[i] {
		reply.Status = statusReleased
	}
	t.undone[i] = t.undone[i] || err != nil && vote.Ambiguous(err) || reply.Status == statusReleased
	return reply, err
}
