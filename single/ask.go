package single

import (
	"context"

	"incumbent/election"
	"incumbent/internal/vote"
)

var _ election.Asker = (*Store)(nil)

// Ask implements election.Asker.
func (s *Store) Ask(ctx context.Context, h election.HandOver) (election.Leader, error) {
	if err := vote.CheckAsk(h); err != nil {
		return election.Leader{}, err
	}
	r, err := s.master.Ask(ctx, h)
	switch {
	case err != nil:
		return election.Leader{}, err
	case r.Status == "free":
		return election.Leader{}, election.ErrNoLeader
	case r.Status != "asked":
		return election.Leader{}, &election.TakenError{By: r.Holder}
	}
	return r.Holder, nil
}
