package both

import (
	"context"
	"errors"
	"fmt"

	"incumbent/election"
)

var _ election.Asker = (*Store)(nil)

// Ask implements election.Asker. The request goes to both stores, and it is enough
// that one of them takes it: the leader may know only that one. Both stores must be
// election.Askers.
func (s *Store) Ask(ctx context.Context, h election.HandOver) (election.Leader, error) {
	var leaders [2]election.Leader
	var errs [2]error
	s.each(func(i int, p part) {
		if a, ok := p.Store.(election.Asker); ok {
			leaders[i], errs[i] = a.Ask(ctx, h)
		} else {
			errs[i] = fmt.Errorf("%T takes no requests", p.Store)
		}
	})
	for _, i := range []int{second, first} {
		if errs[i] == nil {
			return leaders[i], nil
		}
	}
	return election.Leader{}, s.unasked(errs)
}

// unasked is the error when no store took a request: that nobody leads, or another
// term does, only if both stores say such.
func (s *Store) unasked(errs [2]error) error {
	var taken, unknown error
	for i, err := range errs {
		switch {
		case errors.Is(err, election.ErrTaken):
			taken = err
		case !errors.Is(err, election.ErrNoLeader):
			unknown = joined(unknown, s.parts[i].named(err))
		}
	}
	switch {
	case unknown != nil:
		return unknown
	case taken != nil:
		return taken
	}
	return election.ErrNoLeader
}
