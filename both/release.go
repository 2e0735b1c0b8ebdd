package both

import (
	"context"
	"errors"
	"fmt"
	"time"

	"incumbent/election"
)

// returned is what one of the two stores said to a release.
type returned struct {
	election.Released
	err error
}

// Release implements election.Store: the second store, then the first. Both are
// tried whatever the other says; a second one that is slow is not waited for.
//
// The order is for a server that serves both: the second store may need its vote to
// know that a majority has released, the first only finds nothing.
func (s *Store) Release(ctx context.Context, g election.Grant) (election.Released, error) {
	if err := ctx.Err(); err != nil {
		return election.Released{}, fmt.Errorf("release not sent: %w", err)
	}
	t := termOf(g)
	if one, two := t.released(); one && two {
		return election.Released{}, election.ErrExpired
	}
	slow := make(chan returned, 1)
	s.back.Go(func() { slow <- s.giveBack(ctx, t, second, g) })
	var out [2]returned
	timer := time.NewTimer(patience(ctx, g.TTL))
	defer timer.Stop()
	select {
	case out[second] = <-slow:
		out[first] = s.giveBack(ctx, t, first, g)
	case <-timer.C:
		out[first] = s.giveBack(ctx, t, first, g)
		out[second] = <-slow // bounded by ctx
	}
	r := election.Released{Waiting: max(out[first].Waiting, out[second].Waiting)}
	return r, s.outcome(ctx, t, out)
}

// patience is how long the second store may take before the first is asked, too.
func patience(ctx context.Context, ttl time.Duration) time.Duration {
	d := ttl / 20
	if at, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(at)/2)
	}
	return d
}

// giveBack releases the lease in one store, unless that was done before.
func (s *Store) giveBack(ctx context.Context, t *term, i int, g election.Grant) (r returned) {
	if one, two := t.released(); i == first && one || i == second && two {
		return r
	}
	r.Released, r.err = s.parts[i].Release(ctx, t.of(i, g))
	if r.err == nil {
		t.release(i)
	}
	return r
}

// outcome is what two answers to a release come to. One that is not known stands
// alone: only it is to be tried again.
func (s *Store) outcome(ctx context.Context, t *term, out [2]returned) error {
	var unknown, taken, expired error
	for i := range out {
		switch err := s.parts[i].named(out[i].err); {
		case err == nil:
		case errors.Is(err, election.ErrTaken):
			taken = err
		case errors.Is(err, election.ErrExpired):
			expired = err
		default:
			unknown = joined(unknown, err)
		}
	}
	switch {
	case unknown != nil:
		return unknown
	case gone(out[first].err) && out[second].err == nil && s.oneServer(ctx):
		// It was given back with the second store's, and somebody may have it by now.
		t.release(first)
		return nil
	case taken != nil:
		return taken
	}
	return expired
}

// oneServer reports whether a server serves both stores: its lease is one for both.
func (s *Store) oneServer(ctx context.Context) bool {
	if s.shared.Load() {
		return true
	}
	seen := map[string]bool{}
	for _, p := range s.parts {
		st, err := p.Inspect(ctx)
		if err != nil {
			return false
		}
		ids := map[string]bool{}
		for _, m := range st.Masters {
			if m.RunID != "" {
				ids[m.RunID] = true
			}
		}
		for id := range ids {
			if seen[id] {
				s.shared.Store(true)
				return true
			}
			seen[id] = true
		}
	}
	return false
}
