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
	errRunNotAcquired = errors.New("not leader in time")
)

// candidate is an elector which gives up when there is no more reason to campaign, and
// pauses where terms are lost quickly.
type candidate struct {
	election.Elector
	r    *runner
	lost backoff
}

// Campaign waits its pause, and then at most --wait for leadership.
func (c *candidate) Campaign(ctx context.Context) (*election.Term, error) {
	if err := c.r.done(); err != nil {
		return nil, err
	}
	if pause := c.lost.pause(); pause > 0 {
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
		return nil, fmt.Errorf("%w: %w", errRunNotAcquired, err)
	}
	if err == nil {
		c.lost.won()
	}
	return t, err
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
	short int       // terms in a row that were lost quickly
}

const (
	longTerm   = 10 // TTLs: a term of that length begins anew
	maxBackoff = 8  // TTLs
)

// won notes the beginning of a term.
func (b *backoff) won() { b.began = time.Now() }

// pause is how long to wait now: nothing before the first term and after a long one, and
// each time twice as long as before, within a quarter, after a short one.
func (b *backoff) pause() time.Duration {
	if b.began.IsZero() {
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
