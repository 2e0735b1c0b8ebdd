package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"incumbent/election"
)

// Why "run" campaigns no more.
var (
	errRunDone        = errors.New("the command has ended")
	errRunLost        = errors.New("leadership was lost")
	errRunNotAcquired = errors.New("not leader within --wait")
	errRunNoAnswer    = errors.New("the store could not be asked within --wait")
)

// candidate is an elector which gives up when there is no more reason to campaign, and
// pauses where terms are lost quickly.
type candidate struct {
	election.Elector
	r *runner
}

// Campaign waits its pause, and then at most --wait for leadership.
func (c *candidate) Campaign(ctx context.Context) (*election.Term, error) {
	if err := c.r.done(); err != nil {
		return nil, err
	}
	if pause := c.r.terms.pause(); pause > 0 {
		c.r.log.Info("pausing before the next campaign", "pause", pause.Round(time.Millisecond))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	bounded, cancel := c.bounded(ctx)
	defer cancel()
	t, err := c.Elector.Campaign(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil, notWithin(err, c.r.trouble.last())
	}
	if err == nil {
		c.r.terms.won()
		c.r.trouble.over()
	}
	return t, err
}

// notWithin is the error of a campaign that --wait has ended with err, after the refusal
// that was reported last: that somebody else leads, say, or that nobody could be asked.
func notWithin(err, last error) error {
	why := errRunNoAnswer
	switch {
	case election.Permanent(err):
		return err
	case last == nil && !mustWait(err):
		return why
	case last == nil || mustWait(err) && !mustWait(last):
		last = err // its event is on its way
	}
	if mustWait(err) {
		why = errRunNotAcquired
	}
	return fmt.Errorf("%w: %w", why, last)
}

// mustWait reports whether a bid was refused by a store that serves: somebody else leads,
// or will in a moment, or nobody may yet.
func mustWait(err error) bool {
	return isHeld(err) || errors.Is(err, election.ErrGuarded) || errors.Is(err, election.ErrContended)
}

// isHeld reports whether somebody else leads.
func isHeld(err error) bool {
	var held *election.HeldError
	return errors.As(err, &held)
}

// bounded is ctx for --wait. One try is over when the elector says that it failed.
func (c *candidate) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := c.r.k.wait
	switch {
	case wait == nil:
		return ctx, func() {}
	case *wait > 0:
		return context.WithTimeout(ctx, *wait)
	}
	bounded, cancel := context.WithCancel(ctx)
	c.r.refused.Store(&cancel)
	return bounded, func() {
		c.r.refused.Store(nil)
		cancel()
	}
}

// backoff is how long a candidate pauses after terms that were lost: two which take the
// lease from each other, or one whose network comes and goes, must not do so busily.
type backoff struct {
	ttl   time.Duration
	began time.Time // of the last term; zero before the first
	meant bool      // it was given up on purpose
	short int       // terms in a row that were lost quickly
}

const (
	longTerm   = 10 // TTLs: a term of that length begins anew
	maxBackoff = 8  // TTLs
)

// won notes the beginning of a term.
func (b *backoff) won() { b.began, b.meant = time.Now(), false }

// ended notes why a term ended: one that was handed over, or has lasted for max_term, was
// not lost.
func (b *backoff) ended(l *election.Loss) {
	b.meant = l != nil && (errors.Is(l, election.ErrResigned) || errors.Is(l, election.ErrMaxTerm))
}

// pause is how long to wait now: nothing before the first term, after a long one and after
// one that ended on purpose, and each time twice as long as before, within a quarter,
// after a short one.
func (b *backoff) pause() time.Duration {
	if b.began.IsZero() || b.meant {
		return 0
	}
	if time.Since(b.began) >= longTerm*b.ttl {
		b.short = 0
		return 0
	}
	d := min(b.ttl/8<<min(b.short, 10), maxBackoff*b.ttl)
	b.short++
	return d - time.Duration(rand.Int64N(int64(d/4)+1))
}
