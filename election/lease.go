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

// firstRenewal is when a new term is renewed first: soon, if not all masters
// confirmed it. A vote that came before the last leader's release is missing
// until then, and a bare majority is one fault away from a rival.
func firstRenewal(g Grant, interval time.Duration, random float64) time.Duration {
	if g.Held < g.Masters {
		// rare: bare-majority-renews-soon
		return min(interval, g.TTL/20)
	}
	return renewAfter(interval, random)
}

// renewAfter spreads renewals over 85 to 95 percent of the interval. It is
// never longer than the interval, keeps many candidates from falling into
// step, and lets the third renewal after any standby's look come before the
// expiry that the standby saw: it then finds a fresh lease, and looks about
// once a TTL.
func renewAfter(interval time.Duration, random float64) time.Duration {
	return time.Duration(float64(interval) * (0.85 + 0.1*random))
}
