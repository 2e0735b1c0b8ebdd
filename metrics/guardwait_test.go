package metrics_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// guarding is a store whose guards refuse a number of bids.
type guarding struct {
	election.Store
	refuse atomic.Int32
	left   time.Duration
}

func (g *guarding) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	if g.refuse.Add(-1) >= 0 {
		return election.Grant{}, &election.GuardError{Guards: election.RestartGuard, Left: g.left}
	}
	return g.Store.Acquire(ctx, b)
}

// Whoever leads waits for no guard, from the first scrape on: not for the one that its
// campaign has waited for, and which had more time left than it took.
func TestNoGuardWaitWhileLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := electiontest.NewMemory(), newCollector(t)
		st := &guarding{Store: m.Store(), left: 2 * ttl} // it bids again after a TTL
		st.refuse.Store(1)
		e, err := election.New(st, election.Options{ID: "me", TTL: ttl, Clock: election.RuntimeClock(), Observer: c.Observe})
		noErr(t, err)
		won := make(chan error, 1)
		go func() {
			_, err := e.Campaign(t.Context())
			won <- err
		}()
		pass(ttl / 2)
		scrape(t, c).want(t, map[string]float64{
			"is_leader": 0, "guard_waited_seconds": (ttl / 2).Seconds(), "guard_remaining_seconds": (2*ttl - ttl/2).Seconds(),
		})
		noErr(t, <-won)
		for range 8 { // beyond the time after which a wait is no more believed in
			synctest.Wait()
			scrape(t, c).want(t, map[string]float64{
				"is_leader": 1, "guard_waited_seconds": 0, "guard_remaining_seconds": 0, "guard_waits_total{guard=restart}": 1,
			})
			pass(ttl / 4)
		}
		closeAll(t, e)
	})
}
