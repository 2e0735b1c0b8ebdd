package local

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// never is the expiry of a lease at a master that does not answer: it cannot
// give its vote to anybody.
const never = time.Duration(math.MaxInt64)

// Expiry asks every master, past all proxies, how long the lease still has
// there, and returns when so many have expired that a majority is free, as
// CLOCK_MONOTONIC; what is free already counts as expired at the time of asking.
// It is early by up to a millisecond, the unit in which servers tell, and never
// late. Nobody may renew meanwhile.
func (l *Lab) Expiry(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, l.opt.TTL/4)
	defer cancel()
	at := make([]time.Duration, len(l.direct))
	done := make(chan struct{})
	for i := range l.direct {
		go func() {
			at[i] = l.expiryAt(ctx, i)
			done <- struct{}{}
		}()
	}
	for range l.direct {
		<-done
	}
	slices.Sort(at)
	expiry := at[l.opt.need()-1]
	if expiry == never {
		return 0, fmt.Errorf("local: fewer than %d of %d masters said how long the lease still has", l.opt.need(), len(at))
	}
	return expiry, nil
}

// questions is how often each master is asked: an answer is worth what it took
// to get there, and the best one counts.
const questions = 5

// expiryAt is the latest time at which the lease at master i is known to have
// been still there.
func (l *Lab) expiryAt(ctx context.Context, i int) (at time.Duration) {
	for range questions {
		asked := monotonic()
		left, err := l.direct[i].PTTL(ctx, l.keys.Lease).Result()
		switch {
		case err != nil, left == -1: // -1: a key without expiry
			return never
		case left < 0: // -2: no key
			return max(at, asked)
		}
		at = max(at, asked+left)
	}
	return at
}

// floor is how long the lease still had at the time of a fault.
func (l *Lab) floor(ctx context.Context, fault time.Duration) (time.Duration, error) {
	expiry, err := l.Expiry(ctx)
	return max(0, expiry-fault), err
}
