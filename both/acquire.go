package both

import (
	"context"
	"errors"
	"fmt"
	"time"

	"incumbent/election"
)

// Acquire implements election.Store: a look at both stores, then the first one's
// lease, then the second one's, then the token into the first.
func (s *Store) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	if err := ctx.Err(); err != nil {
		return election.Grant{}, fmt.Errorf("acquire not sent: %w", err)
	}
	if err := s.look(ctx, b); err != nil {
		return election.Grant{}, err
	}
	t := new(term)
	g, err := s.take(ctx, t, b)
	if err != nil {
		s.undo(t, b)
		return election.Grant{}, err
	}
	return g, nil
}

// take acquires the one lease after the other. What it has when it fails is in t.
func (s *Store) take(ctx context.Context, t *term, b election.Bid) (election.Grant, error) {
	one, err := s.parts[first].Acquire(ctx, b)
	if err != nil {
		return one, s.parts[first].named(err)
	}
	t.keep(first, one)
	rest := b
	// The token of a bid that is sent again stays what it was: so not one more.
	rest.Floor = max(b.Floor, one.Token-1)
	two, err := s.parts[second].Acquire(ctx, rest)
	if err != nil {
		return two, s.parts[second].named(err)
	}
	t.keep(second, two)
	if two.Token < one.Token {
		return two, s.parts[second].named(&election.RegressedError{Offered: two.Token, Known: one.Token})
	}
	// The first store must know the token before the term begins: who leads by that
	// store alone afterwards needs a larger one (invariant 8).
	one.Token = two.Token
	one, err = s.parts[first].Renew(ctx, one)
	if err != nil {
		return one, s.parts[first].named(unsealed(err))
	}
	t.keep(first, one)
	return election.Grant{
		Bid: b, Token: two.Token, Held: one.Held + two.Held, Masters: one.Masters + two.Masters, State: t,
	}, nil
}

// unsealed is the error of a bid whose first lease was lost before it was sealed.
func unsealed(err error) error {
	var taken *election.TakenError
	switch {
	case errors.As(err, &taken):
		return &election.HeldError{Holder: taken.By, Left: taken.By.Left, Last: taken.By.Token}
	case errors.Is(err, election.ErrExpired):
		return fmt.Errorf("%w: the lease was lost before the term began", election.ErrContended)
	}
	return err
}

// undoPauses are the waits before each try to give up a lease that will not be
// used. What cannot be given up ends by itself after a TTL.
var undoPauses = []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond}

// undo gives up what a failed bid has got, in the background. A store that did not
// grant it undoes its own part.
func (s *Store) undo(t *term, b election.Bid) {
	for i, p := range s.parts {
		if !t.granted(i) {
			continue
		}
		g := t.of(i, election.Grant{Bid: b}) // without a token: this was no term
		s.back.Go(func() {
			for _, pause := range undoPauses {
				time.Sleep(pause)
				ctx, cancel := context.WithTimeout(context.Background(), max(b.TTL/2, 500*time.Millisecond))
				_, err := p.Release(ctx, g)
				cancel()
				if err == nil || gone(err) {
					return
				}
			}
		})
	}
}
