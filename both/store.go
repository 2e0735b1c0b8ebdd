package both

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Options of a store. The zero value is usable.
type Options struct {
	// First and Second are what errors and states call the two stores. "" means
	// "first" and "second". They must differ.
	First, Second string
}

// The two stores, by index.
const (
	first  = 0
	second = 1
)

// Store leads only while it holds the lease in two stores. It implements
// election.Store and election.Asker, and is safe for concurrent use.
type Store struct {
	parts   [2]part
	back    vote.Background
	masters [2]atomic.Int32 // how many each has; 0 before that is known
	shared  atomic.Bool     // one server was seen to serve both
}

// part is one of the two stores.
type part struct {
	election.Store
	name string
}

// New makes a store of two, which belong to it from then on. They must do what
// package electiontest checks. All candidates should give them in the same order,
// in whichever direction the election moves: who takes them in another order may
// have to bid more than once. Nothing is sent before first use.
func New(one, two election.Store, o Options) (*Store, error) {
	if one == nil || two == nil {
		return nil, errors.New("both: needs two stores")
	}
	if o.First == "" {
		o.First = "first"
	}
	if o.Second == "" {
		o.Second = "second"
	}
	if o.First == o.Second {
		return nil, fmt.Errorf("both: option Second: %q: must differ from First", o.Second)
	}
	return &Store{parts: [2]part{{one, o.First}, {two, o.Second}}}, nil
}

// named says which store an error is of.
func (p part) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", p.name, err)
}

// master is what a master of this store is called, so that one which serves both
// stores has two names.
func (p part) master(name string) string { return p.name + "/" + name }

// each calls f for both stores at once and waits for both.
func (s *Store) each(f func(i int, p part)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(first, s.parts[first])
	}()
	f(second, s.parts[second])
	<-done
}

// Init says that nobody can be leading this election, in neither store, so that
// guards of the masters need not wait. It refuses with a *election.HeldError while
// somebody holds a lease at any master, which is the case during a move: call Init
// of the store that is moved to alone, before the move. The error names the store
// that did not take it. Both stores must have the method.
func (s *Store) Init(ctx context.Context) error {
	st, err := s.Inspect(ctx)
	if err != nil {
		return err
	}
	for _, m := range st.Masters {
		if m.Holder != nil {
			return &election.HeldError{Holder: *m.Holder, Left: m.Holder.Left, Last: st.Last}
		}
	}
	var errs [2]error
	s.each(func(i int, p part) {
		if able, ok := p.Store.(interface{ Init(context.Context) error }); ok {
			errs[i] = p.named(able.Init(ctx))
		} else {
			errs[i] = fmt.Errorf("%s: %T has no Init", p.name, p.Store)
		}
	})
	return joined(errs[:]...)
}

// Settle implements election.Store.
func (s *Store) Settle(ctx context.Context) error {
	if err := s.back.Settle(ctx); err != nil { // what it does calls the two
		return err
	}
	var errs [2]error
	s.each(func(i int, p part) { errs[i] = p.Settle(ctx) })
	return joined(errs[:]...)
}

// joined is errors.Join on one line.
func joined(errs ...error) error {
	var all error
	for _, err := range errs {
		switch {
		case err == nil:
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// gone reports whether a store is certain that the lease is not ours.
func gone(err error) bool {
	return errors.Is(err, election.ErrTaken) || errors.Is(err, election.ErrExpired)
}
