package both

import (
	"context"

	"incumbent/election"
)

// answer is what one of the two stores said.
type answer struct {
	i   int
	g   election.Grant
	err error
}

// Renew implements election.Store. Both stores are asked at once; it counts when
// both confirm. As soon as one says that its lease is gone the term is over,
// whatever the other says. The other lease is kept until Release, so that nobody
// else starts by it while the work is stopping.
//
// Held and Masters are the sums over both stores. With a single server and N
// masters the least that keeps a term is 1 of 1 and a majority of N: as many as a
// majority of N + 1, for odd N. So "only a bare majority holds" reads as always there.
// With two lists of masters it does not: 3 + 2 of 3 + 3 hangs by one master, and the sum
// of 5 of 6 does not show it.
func (s *Store) Renew(ctx context.Context, g election.Grant) (election.Grant, error) {
	t := termOf(g)
	g.State = t
	answers := make(chan answer, len(s.parts))
	for i, p := range s.parts {
		s.back.Go(func() { // it outlives this call where the other lease is gone
			r, err := p.Renew(ctx, t.of(i, g))
			answers <- answer{i, r, err}
		})
	}
	renewed := g
	renewed.Held, renewed.Masters, renewed.Asked = 0, 0, nil
	var errs [2]error
	for range s.parts {
		a := <-answers
		if gone(a.err) {
			return g, s.parts[a.i].named(a.err)
		}
		if errs[a.i] = s.parts[a.i].named(a.err); a.err != nil {
			continue
		}
		t.keep(a.i, a.g)
		renewed.Held += a.g.Held
		renewed.Masters += a.g.Masters
		renewed.Asked = request(renewed.Asked, a.g.Asked, g.Token)
	}
	if err := joined(errs[:]...); err != nil {
		return g, err
	}
	return renewed, nil
}

// request is the one of two requests to hand over that is meant for the term.
func request(a, b *election.HandOver, t election.Token) *election.HandOver {
	if a == nil || b != nil && b.Token == t {
		return b
	}
	return a
}
