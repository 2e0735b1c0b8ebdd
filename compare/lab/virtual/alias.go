package virtual

import (
	"context"
	"sync/atomic"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// alias is a store whose bids come from a host and process of the simulation.
// Those of the machine would differ from process to process, and with them the
// length of a request, which decides how long it travels.
type alias struct {
	election.Store
	host string
	pid  int
	bids *simnet.Source // when a bid begins that would follow another one at once; nil: at once

	refused atomic.Int64 // when a bid failed last, in nanoseconds
}

// Acquire implements election.Store. A bid does not begin in the very instant in which
// the one before failed: in quorum mode that one may be undone then, and chance would
// decide which of the two gets the connection that is there and which has to dial.
func (a *alias) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	b.Candidate.Host, b.Candidate.PID = a.host, a.pid
	if a.bids != nil && a.refused.Load() == time.Now().UnixNano() {
		time.Sleep(a.bids.Until(1))
	}
	g, err := a.Store.Acquire(ctx, b)
	if err != nil {
		a.refused.Store(time.Now().UnixNano())
	}
	return g, err
}
