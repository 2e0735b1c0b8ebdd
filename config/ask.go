package config

import (
	"context"
	"fmt"

	"incumbent/election"
)

// Ask asks the leader of the named election to hand over: see election.HandOver. It
// returns who is asked, and does not wait for the hand-over. The error matches
// election.ErrNoLeader when nobody holds a lease, election.ErrTaken when the lease is of
// another term than h.Token; any other says which master failed, and the request may
// be heeded all the same. ctx and a few timeouts bound it.
func (cl *Client) Ask(ctx context.Context, name string, h election.HandOver) (election.Leader, error) {
	cl.mu.Lock()
	closed := cl.isClosed
	cl.mu.Unlock()
	if closed {
		return election.Leader{}, fmt.Errorf("election %q: %w", name, election.ErrClientClosed)
	}
	s, err := cl.newStore(name, cl.cfg.Logger, nil)
	if err != nil {
		return election.Leader{}, err
	}
	a, ok := s.(election.Asker)
	if !ok {
		return election.Leader{}, fmt.Errorf("election %q: mode %s has no way to ask for a hand-over", name, cl.cfg.Mode)
	}
	l, err := a.Ask(ctx, h)
	if err != nil {
		return l, fmt.Errorf("election %q: ask: %w", name, err)
	}
	return l, nil
}
