package virtual

import (
	"context"

	"incumbent/election"
)

// alias is a store whose bids come from a host and process of the simulation.
// Those of the machine would differ from process to process, and with them the
// length of a request, which decides how long it travels.
type alias struct {
	election.Store
	host string
	pid  int
}

// Acquire implements election.Store.
func (a alias) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	b.Candidate.Host, b.Candidate.PID = a.host, a.pid
	return a.Store.Acquire(ctx, b)
}
