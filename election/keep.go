package election

import (
	"context"
	"errors"
	"sync"
)

// ErrNotLeader is returned by Keeper.IsLeader while this candidate does not lead.
var ErrNotLeader = errors.New("not the leader")

// A Keeper leads in the background whenever it can.
type Keeper struct {
	cancel context.CancelFunc
	done   chan struct{}
	e      Elector

	mu   sync.Mutex
	term *Term
	err  error
}

// Keep campaigns in the background, again after every loss, until ctx ends or
// Stop is called. For programs that ask "do I lead now?" from many places;
// where the work can be a function, Run is safer, since it knows when the work
// has returned. A term that is lost is given back as soon as it is lost: check
// Valid, or better the token at the resource, before every act.
func Keep(ctx context.Context, e Elector) *Keeper {
	ctx, cancel := context.WithCancel(ctx)
	k := &Keeper{cancel: cancel, done: make(chan struct{}), e: e}
	go k.loop(ctx)
	return k
}

func (k *Keeper) loop(ctx context.Context) {
	defer close(k.done)
	err := Run(ctx, k.e, func(ctx context.Context, t *Term) error {
		k.set(t)
		<-ctx.Done()
		k.set(nil)
		return context.Cause(ctx)
	})
	k.mu.Lock()
	k.err = err
	k.mu.Unlock()
}

func (k *Keeper) set(t *Term) {
	k.mu.Lock()
	k.term = t
	k.mu.Unlock()
}

// Term is the current term, and whether it is valid at this moment.
func (k *Keeper) Term() (*Term, bool) {
	k.mu.Lock()
	t := k.term
	k.mu.Unlock()
	if t == nil || !t.Valid() {
		return nil, false
	}
	return t, true
}

// IsLeader is nil while this candidate leads, ErrNotLeader otherwise. It is
// the method that the gocron scheduler asks of an elector.
func (k *Keeper) IsLeader(context.Context) error {
	if _, ok := k.Term(); !ok {
		return ErrNotLeader
	}
	return nil
}

// Done is closed when the keeper has stopped; Err then says why.
func (k *Keeper) Done() <-chan struct{} { return k.done }

// Err is why the keeper stopped by itself; nil while it runs, and after Stop
// or the end of its context.
func (k *Keeper) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// Stop ends the keeper, gives a held lease back, and waits for both until ctx
// ends. It may be called more than once.
func (k *Keeper) Stop(ctx context.Context) error {
	k.cancel()
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
