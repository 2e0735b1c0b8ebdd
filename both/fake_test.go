package both_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/both"
	"incumbent/election"
	"incumbent/election/electiontest"
)

// fake is a store with some calls replaced, which may take time; nil means untouched.
// It notes when each of its bids and releases came.
type fake struct {
	election.Store
	acquire func(b election.Bid) (election.Grant, error)
	renew   func(g election.Grant) (election.Grant, error)
	release func(n int) (election.Released, error) // the nth, from 1
	ask     func(h election.HandOver) (election.Leader, error)

	mu       sync.Mutex
	bids     []election.Bid
	releases []time.Time
}

func (f *fake) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	f.mu.Lock()
	f.bids = append(f.bids, b)
	f.mu.Unlock()
	if f.acquire != nil {
		return f.acquire(b)
	}
	return f.Store.Acquire(ctx, b)
}

func (f *fake) Renew(ctx context.Context, g election.Grant) (election.Grant, error) {
	if f.renew != nil {
		return f.renew(g)
	}
	return f.Store.Renew(ctx, g)
}

func (f *fake) Release(ctx context.Context, g election.Grant) (election.Released, error) {
	f.mu.Lock()
	f.releases = append(f.releases, time.Now())
	n := len(f.releases)
	f.mu.Unlock()
	if f.release != nil {
		return f.release(n)
	}
	return f.Store.Release(ctx, g)
}

func (f *fake) Ask(ctx context.Context, h election.HandOver) (election.Leader, error) {
	if f.ask != nil {
		return f.ask(h)
	}
	return f.Store.(election.Asker).Ask(ctx, h)
}

// came says when the releases came.
func (f *fake) came() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.releases
}

// bidFor reports whether a bid with that value came: a look has another.
func (f *fake) bidFor(value string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.bids {
		if b.Value == value {
			return true
		}
	}
	return false
}

const fakeTTL = 3 * time.Second

// inFakes runs f in virtual time with a store of two that are kept in memory.
func inFakes(t *testing.T, f func(t *testing.T, st *both.Store, one, two *fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		one, two := &fake{Store: electiontest.NewMemory().Store()}, &fake{Store: electiontest.NewMemory().Store()}
		st := join(t, one, two)
		f(t, st, one, two)
		settle(t, st)
	})
}

// fakeBid is a bid with that value.
func fakeBid(value string) election.Bid {
	return election.Bid{Value: value, Candidate: election.Candidate{ID: "a", Instance: "a"}, TTL: fakeTTL}
}

// masterError is what a master says that cannot serve.
func masterError(kind error) error {
	return &election.MasterError{Master: "redis-x", Op: "call", Kind: kind, Err: fmt.Errorf("%w: for a test", kind)}
}
