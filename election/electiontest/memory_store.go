package electiontest

import (
	"context"
	"time"

	"incumbent/election"
)

// memoryStore implements election.Store on a Memory.
type memoryStore struct{ m *Memory }

// Acquire implements election.Store.
func (s memoryStore) Acquire(ctx context.Context, b election.Bid) (g election.Grant, err error) {
	err = s.m.do(ctx, OpAcquire, func() error {
		g, err = s.m.acquire(b)
		return err
	}, func() { s.m.undo(b.Value) })
	if err != nil {
		return election.Grant{}, err
	}
	return g, nil
}

func (m *Memory) acquire(b election.Bid) (election.Grant, error) {
	if l := m.held(); l != nil {
		if l.value == b.Value { // a repeated bid never loses to itself
			return memoryGrant(b, l.holder.Token), nil
		}
		who := l.leader()
		return election.Grant{}, &election.HeldError{Holder: who, Left: who.Left, Last: m.last}
	}
	if left := m.kept(); left > 0 && b.Candidate.ID != m.heir {
		return election.Grant{}, &election.GuardError{
			Guards: election.HandOverGuard, Masters: []string{memoryName}, Left: left, Last: m.last,
		}
	}
	token := max(m.last, b.Floor) + 1
	if token > election.MaxToken {
		return election.Grant{}, &election.RegressedError{Offered: m.last, Known: b.Floor}
	}
	m.last, m.asked, m.heir = token, nil, ""
	m.lease = &memoryLease{
		value:   b.Value,
		holder:  election.Leader{Candidate: b.Candidate, Token: token, TTL: b.TTL},
		expires: time.Now().Add(b.TTL),
	}
	return memoryGrant(b, token), nil
}

func memoryGrant(b election.Bid, t election.Token) election.Grant {
	return election.Grant{Bid: b, Token: t, Held: 1, Masters: 1}
}

// Renew implements election.Store.
func (s memoryStore) Renew(ctx context.Context, g election.Grant) (election.Grant, error) {
	var asked *election.HandOver
	err := s.m.do(ctx, OpRenew, func() error {
		if err := s.m.owns(g.Value); err != nil {
			return err
		}
		s.m.lease.expires = time.Now().Add(g.TTL)
		asked = s.m.asked
		return nil
	}, nil)
	g.Held, g.Masters, g.Asked = 1, 1, asked
	return g, err
}

// owns says why the lease is not value's; nil if it is. m.mu is held.
func (m *Memory) owns(value string) error {
	switch l := m.held(); {
	case l == nil:
		return election.ErrExpired
	case l.value != value:
		return &election.TakenError{By: l.leader()}
	}
	return nil
}

// Release implements election.Store.
func (s memoryStore) Release(ctx context.Context, g election.Grant) (r election.Released, err error) {
	err = s.m.do(ctx, OpRelease, func() error {
		if err := s.m.owns(g.Value); err != nil {
			return err
		}
		s.m.freed = g.Token
		s.m.reserve()
		r.Waiting = s.m.free()
		return nil
	}, nil)
	if err != nil {
		return election.Released{}, err
	}
	return r, nil
}

// undo takes back a bid whose caller heard no answer, in the background.
func (m *Memory) undo(value string) {
	m.mu.Lock()
	if m.undoing++; m.undoing == 1 {
		m.settled = make(chan struct{})
	}
	m.mu.Unlock()
	go func() {
		_ = m.do(context.Background(), opUndo, func() error { // nobody is left to be told
			if m.owns(value) == nil {
				m.free()
			}
			return nil
		}, nil)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.undoing--; m.undoing == 0 {
			close(m.settled)
		}
	}()
}

// Inspect implements election.Store.
func (s memoryStore) Inspect(ctx context.Context) (election.State, error) {
	st := election.MasterState{Name: memoryName}
	err := s.m.do(ctx, OpInspect, func() error {
		st.Reachable, st.Role = true, "master"
		st.Last, st.ReleasedToken, st.Now = s.m.last, s.m.freed, time.Now()
		if l := s.m.held(); l != nil {
			who := l.leader()
			st.Holder, st.Value, st.Until = &who, l.value, l.expires
		} else if s.m.kept() > 0 {
			st.Heir, st.Guards, st.GuardUntil = s.m.heir, election.HandOverGuard, s.m.heirEnd
		}
		return nil
	}, nil)
	if err != nil {
		st = election.MasterState{Name: memoryName, Err: err}
	}
	return election.State{Leader: st.Holder, Last: st.Last, Masters: []election.MasterState{st}}, nil
}

// Released implements election.Store.
func (s memoryStore) Released(ctx context.Context) (hints <-chan struct{}, err error) {
	s.m.count(OpListen)
	return s.m.subscribe(ctx), nil
}

// Settle implements election.Store.
func (s memoryStore) Settle(ctx context.Context) error {
	s.m.mu.Lock()
	busy, settled := s.m.undoing > 0, s.m.settled
	s.m.mu.Unlock()
	if !busy {
		return nil
	}
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
