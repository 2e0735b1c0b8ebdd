package local

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
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
	at := l.expiries(ctx)
	expiry := at[l.opt.need()-1]
	if expiry == never {
		return 0, fmt.Errorf("local: fewer than %d of %d masters said how long the lease still has", l.opt.need(), len(at))
	}
	return expiry, nil
}

// expiries is when the lease runs out at each master, in order of time.
func (l *Lab) expiries(ctx context.Context) []time.Duration {
	at := make([]time.Duration, len(l.places))
	var wg sync.WaitGroup
	for i, p := range l.places {
		wg.Go(func() { at[i] = l.expiryAt(ctx, p.primary) })
	}
	wg.Wait()
	slices.Sort(at)
	return at
}

// questions is how often each master is asked: an answer is worth what it took
// to get there, and the best one counts.
const questions = 5

// expiryAt is the latest time at which the lease at a master is known to have
// been still there.
func (l *Lab) expiryAt(ctx context.Context, s *server) (at time.Duration) {
	if !s.runs() {
		return never
	}
	for range questions {
		asked := monotonic()
		left, err := s.asked().PTTL(ctx, l.keys.Lease).Result()
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

// presumed is Expiry of the term with that token, where a master may be silent, or the
// machine so slow that somebody else holds the lease by now: then it is what the
// holder's deadline says.
func (l *Lab) presumed(ctx context.Context, token uint64) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, l.opt.TTL/4)
	defer cancel()
	expiry := l.expiries(ctx)[l.opt.need()-1]
	if expiry == never || l.rec.leading().token != token {
		return l.rec.term(token).deadline + drift(l.opt.TTL)
	}
	return expiry
}

// drift is by how much earlier than the store a holder stops to believe.
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }
