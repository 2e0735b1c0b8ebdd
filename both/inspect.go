package both

import (
	"context"
	"time"

	"incumbent/election"
)

// Inspect implements election.Store. It lists the masters of the first store, then
// those of the second, each with the store's name before its own: "single/" and an
// address. A server that serves both is there twice.
//
// Where the two stores do not name the same leader it looks again, after a twentieth of
// a TTL and 100 ms at most: a bid may have been on its way from the one to the other.
// If they still differ the leader is the holder with the larger token. The other lease
// is one that its holder has lost or left behind; or that leader uses one store alone.
func (s *Store) Inspect(ctx context.Context) (election.State, error) {
	st, err := s.inspect(ctx)
	if err != nil || agree(st.Parts) {
		return st, err
	}
	timer := time.NewTimer(min(st.Leader.TTL/20, 100*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.inspect(ctx)
	case <-ctx.Done():
		return st, nil
	}
}

// agree reports whether two stores name the same leader, or none.
func agree(parts []election.State) bool {
	one, two := parts[first].Leader, parts[second].Leader
	if one == nil || two == nil {
		return one == two
	}
	return one.Token == two.Token
}

// inspect looks once.
func (s *Store) inspect(ctx context.Context) (election.State, error) {
	var states [2]election.State
	var errs [2]error
	s.each(func(i int, p part) {
		states[i], errs[i] = p.Inspect(ctx)
		errs[i] = p.named(errs[i])
	})
	if err := joined(errs[:]...); err != nil {
		return election.State{}, err
	}
	out := election.State{Parts: states[:]}
	for i, st := range states {
		out.Last = max(out.Last, st.Last)
		if l := st.Leader; l != nil && (out.Leader == nil || l.Token >= out.Leader.Token) {
			out.Leader = l
		}
		for _, m := range st.Masters {
			m.Name = s.parts[i].master(m.Name)
			out.Masters = append(out.Masters, m)
		}
	}
	return out, nil
}
