package election

import "time"

// drift is what a deadline gives up against clocks that run at different
// speeds: one percent of the TTL, and 2 ms for the millisecond resolution of
// expiry on both sides (Redis, "Distributed Locks with Redis").
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// deadline is the end of a lease that was asked for at sent: nothing that
// happened after the request can move it (invariant 1).
func deadline(sent time.Time, ttl time.Duration) time.Time {
	return sent.Add(ttl - drift(ttl))
}

// tryTimeout bounds one try to renew so that at least two fit before the
// deadline, and so that one silent master never uses up the lease.
func tryTimeout(remaining, ttl time.Duration) time.Duration {
	return max(min(remaining/2, ttl/4), time.Millisecond)
}

// renewAfter spreads renewals over 85 to 95 percent of the interval. It is
// never longer than the interval, keeps many candidates from falling into
// step, and lets the third renewal after any standby's look come before the
// expiry that the standby saw: it then finds a fresh lease, and looks about
// once a TTL.
func renewAfter(interval time.Duration, random float64) time.Duration {
	return time.Duration(float64(interval) * (0.85 + 0.1*random))
}
