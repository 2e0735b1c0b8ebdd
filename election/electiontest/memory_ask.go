package electiontest

import (
	"context"
	"time"

	"incumbent/election"
)

var _ election.Asker = memoryStore{}

// Ask implements election.Asker.
func (s memoryStore) Ask(ctx context.Context, h election.HandOver) (who election.Leader, err error) {
	err = s.m.do(ctx, OpAsk, func() error {
		l := s.m.held()
		switch {
		case l == nil:
			return election.ErrNoLeader
		case l.holder.Token != h.Token:
			return &election.TakenError{By: l.leader()}
		}
		s.m.asked, who = &h, l.leader()
		return nil
	}, nil)
	if err != nil {
		return election.Leader{}, err
	}
	return who, nil
}

// reserve keeps a lease that is released for whoever was asked for. m.mu is held.
func (m *Memory) reserve() {
	if m.asked != nil && m.asked.Token == m.lease.holder.Token && m.asked.To != "" {
		m.heir, m.heirEnd = m.asked.To, time.Now().Add(m.asked.Reserve)
	}
	m.asked = nil
}

// kept is how long the heir still goes first. m.mu is held.
func (m *Memory) kept() time.Duration {
	if m.heir == "" {
		return 0
	}
	return max(0, time.Until(m.heirEnd))
}
