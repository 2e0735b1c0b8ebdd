package election_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// door is a guard that answers as told.
type door func(ctx context.Context, t election.Token) error

func (d door) Raise(ctx context.Context, t election.Token) error { return d(ctx, t) }

// Guards are raised to the term's token, each in turn, before the work starts.
func TestRunRaisesGuardsFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		var order []string
		note := func(name string) door {
			return func(_ context.Context, token election.Token) error {
				if token != m.Token() {
					t.Errorf("%s raised to %d, the term has %d", name, token, m.Token())
				}
				order = append(order, name)
				return nil
			}
		}
		err := election.Run(bg, e, func(context.Context, *election.Term) error {
			order = append(order, "work")
			return nil
		}, note("one"), note("two"))
		if got := strings.Join(order, " "); err != nil || got != "one two work" {
			t.Errorf("%v: order %q", err, got)
		}
	})
}

// A resource that knows a higher token than the store, which was restored from an
// old copy, costs one term: the next bid asks for a larger token.
func TestRunHealsAboveAFence(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		const known = 1_000_000
		raises := 0
		guard := door(func(_ context.Context, token election.Token) error {
			raises++
			if token <= known {
				return &election.FencedError{Known: known} // as terse as can be
			}
			return nil
		})
		var token election.Token
		err := election.Run(bg, e, func(_ context.Context, term *election.Term) error {
			token = term.Token()
			return nil
		}, guard)
		if err != nil || token != known+1 || raises != 2 {
			t.Errorf("%v: token %d after %d raises", err, token, raises)
		}
		if e.logs.count("leadership ended", "reason=fenced", "1000000") != 1 {
			t.Errorf("log:\n%s", e.logs)
		}
	})
}

// Work that is fenced ends its term with that reason and is begun again under a
// larger token; a fence of another election is an error like any other.
func TestRunWorkThatIsFenced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		var tokens []election.Token
		var cause error
		err := election.Run(bg, e, func(_ context.Context, term *election.Term) error {
			tokens = append(tokens, term.Token())
			if len(tokens) == 1 {
				context.AfterFunc(term.Context(), func() { cause = context.Cause(term.Context()) })
				return &election.FencedError{Resource: "row 7", Token: term.Token(), Known: 99}
			}
			return nil
		})
		pass(0)
		if err != nil || len(tokens) != 2 || tokens[1] != 100 || !errors.Is(cause, election.ErrFenced) {
			t.Errorf("%v: tokens %v, cause %v", err, tokens, cause)
		}
		tokens = nil
		err = election.Run(bg, e, func(_ context.Context, term *election.Term) error {
			tokens = append(tokens, term.Token())
			if len(tokens) == 1 {
				return fmt.Errorf("both: %w", errors.Join(&election.FencedError{Resource: "another", Token: 1, Known: 2},
					&election.FencedError{Resource: "ours", Token: term.Token(), Known: 200}))
			}
			return nil
		})
		if err != nil || len(tokens) != 2 || tokens[1] != 201 {
			t.Errorf("joined errors: %v: tokens %v", err, tokens)
		}
		other := &election.FencedError{Resource: "another job's", Token: 5, Known: 9}
		if err := election.Run(bg, e, func(context.Context, *election.Term) error { return other }); !errors.Is(err, other) {
			t.Errorf("another election's fence: %v", err)
		}
	})
}

// A guard that cannot be raised is tried again with pauses; after a TTL the term
// is given to somebody who may reach it.
func TestRunGuardOutOfReach(t *testing.T) {
	down := errors.New("connection refused")
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		began, tries := time.Now(), 0
		guard := door(func(context.Context, election.Token) error {
			if tries++; time.Since(began) < ttl/2 {
				return down
			}
			return nil
		})
		if err := election.Run(bg, e, func(context.Context, *election.Term) error { return nil }, guard); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d < ttl/2 || d > ttl || tries > 12 {
			t.Errorf("raised after %s and %d tries", d, tries)
		}
		if e.logs.count("guard not raised", "connection refused") != 1 {
			t.Errorf("log:\n%s", e.logs)
		}
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		done := make(chan error, 1)
		go func() {
			done <- election.Run(ctx, e, func(context.Context, *election.Term) error {
				t.Error("the work ran without its guard")
				return nil
			}, door(func(context.Context, election.Token) error { return down }))
		}()
		pass(5 * ttl)
		if n := e.logs.count("leadership ended", "reason=unhealthy"); n < 2 || n > 5 {
			t.Errorf("%d terms ended in 5 TTLs:\n%s", n, e.logs)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		wantFree(t, m)
	})
}

// lasting is an error that waiting does not cure.
type lasting struct{}

func (lasting) Error() string   { return "no such table" }
func (lasting) Permanent() bool { return true }

// A fence that does not say by what ends the term all the same.
func TestRunGuardThatSaysNoMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		tries := 0
		err := election.Run(bg, e, func(context.Context, *election.Term) error { return nil },
			door(func(context.Context, election.Token) error {
				if tries++; tries == 1 {
					return fmt.Errorf("no: %w", election.ErrFenced)
				}
				return nil
			}))
		if err != nil || tries != 2 {
			t.Errorf("%v after %d raises", err, tries)
		}
	})
}

// What waiting does not cure ends Run; a token that nobody can exceed is waited
// for, and leaves nothing behind once it is repaired.
func TestRunGuardThatIsBroken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		err := election.Run(bg, e, func(context.Context, *election.Term) error { return nil },
			door(func(context.Context, election.Token) error { return lasting{} }))
		if !errors.Is(err, lasting{}) {
			t.Errorf("got %v", err)
		}
		wantFree(t, m)
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		began := time.Now()
		guard := door(func(_ context.Context, token election.Token) error {
			if time.Since(began) < 3*ttl {
				return &election.FencedError{Resource: "key", Token: token, Known: election.MaxToken}
			}
			return nil
		})
		if err := election.Run(bg, e, func(context.Context, *election.Term) error { return nil }, guard); err != nil {
			t.Fatal(err)
		}
		if n := m.Calls(electiontest.OpAcquire); n > 5 {
			t.Errorf("%d bids in 3 TTLs", n)
		}
		if e.logs.count("reason=unhealthy", "key", "9007199254740991") == 0 {
			t.Errorf("log:\n%s", e.logs)
		}
	})
}

// The end of ctx ends a raise that hangs, and a guard that panics is reported as
// the work's panic would be.
func TestRunGuardHangsOrPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		done := make(chan error, 1)
		go func() {
			done <- election.Run(ctx, e, func(context.Context, *election.Term) error { return nil },
				door(func(ctx context.Context, _ election.Token) error { <-ctx.Done(); return ctx.Err() }))
		}()
		pass(ttl / 4)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		wantFree(t, m)
		var p *election.PanicError
		err := election.Run(bg, e, func(context.Context, *election.Term) error { return nil },
			door(func(context.Context, election.Token) error { panic("boom") }))
		if !errors.As(err, &p) || p.Value != "boom" {
			t.Errorf("got %v", err)
		}
		wantFree(t, m)
	})
}
