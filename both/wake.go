package both

import (
	"context"

	"incumbent/election"
)

// Released implements election.Store. A hint of either store is one.
func (s *Store) Released(ctx context.Context) (<-chan struct{}, error) {
	ctx, stop := context.WithCancel(ctx)
	var hints [2]<-chan struct{}
	for i, p := range s.parts {
		var err error
		if hints[i], err = p.Released(ctx); err != nil {
			stop()
			return nil, p.named(err)
		}
	}
	out := make(chan struct{}, 1)
	s.back.While(ctx, func() {
		defer stop()
		pass(ctx, hints, out)
	})
	return out, nil
}

// pass hands on hints until ctx ends.
func pass(ctx context.Context, hints [2]<-chan struct{}, out chan<- struct{}) {
	for {
		select {
		case <-hints[first]:
		case <-hints[second]:
		case <-ctx.Done():
			return
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case out <- struct{}{}:
		default: // one hint waits already
		}
	}
}

var _ election.Store = (*Store)(nil)
