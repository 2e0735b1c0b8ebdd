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
		if b.n == 0 {
			b.mu.Unlock()
			return nil
		}
		if b.idle == nil {
			b.idle = make(chan struct{})
		}
		idle := b.idle
		b.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
