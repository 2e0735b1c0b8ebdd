package vote

import (
	"context"
	"sync"
)

// Background counts bounded work that outlives the call that started it, such
// as late votes and clean-up.
type Background struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil when nobody waits
	long map[*lasting]bool
}

// lasting is work that lasts as long as its context.
type lasting struct {
	ctx  context.Context
	done chan struct{}
}

// While runs f, which lasts until ctx ends and a little longer. Settle waits for
// it only from the end of ctx on: who listens for hours holds up nobody.
func (b *Background) While(ctx context.Context, f func()) {
	l := &lasting{ctx, make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.long == nil {
		b.long = map[*lasting]bool{}
	}
	b.long[l] = true
	go func() {
		defer func() {
			b.mu.Lock()
			delete(b.long, l)
			b.mu.Unlock()
			close(l.done)
		}()
		f()
	}()
}

// ending is the end of some lasting work whose context has ended; nil if there
// is none. b.mu is held.
func (b *Background) ending() <-chan struct{} {
	for l := range b.long {
		if l.ctx.Err() != nil {
			return l.done
		}
	}
	return nil
}

// Start notes n pieces of work; Done ends one.
func (b *Background) Start(n int) {
	b.mu.Lock()
	b.n += n
	b.mu.Unlock()
}

// Done ends one piece of work.
func (b *Background) Done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n--
	if b.n == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// Go runs f as a piece of work.
func (b *Background) Go(f func()) {
	b.Start(1)
	go func() {
		defer b.Done()
		f()
	}()
}

// Settle waits until no work is left, or ctx ends.
func (b *Background) Settle(ctx context.Context) error {
	for {
		b.mu.Lock()
		wait := b.ending()
		switch {
		case b.n == 0 && wait == nil:
			b.mu.Unlock()
			return nil
		case b.n > 0:
			if b.idle == nil {
				b.idle = make(chan struct{})
			}
			wait = b.idle
		}
		b.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
