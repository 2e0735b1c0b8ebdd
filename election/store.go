package election

import (
	"context"
	"time"
)

// Token is a fencing token: a number that is strictly larger than that of
// every earlier term of the same election. A resource that remembers the
// highest token it has seen can refuse whoever comes with a smaller one. It
// stays the same for the whole of a term, fits in 53 bits, and 0 is never
// valid. The idea is from Kleppmann, "How to do distributed locking" (2016).
type Token uint64

// MaxToken is the largest token that a store may issue: 2^53 - 1, the largest
// integer that Lua and JSON readers keep exactly.
const MaxToken Token = 1<<53 - 1

// A Bid is one try to acquire the lease. Every try is a new bid.
type Bid struct {
	// Value is unique to this bid: what the store keeps as proof of ownership,
	// compared whole. It is never reused, not even by the same process.
	Value string
	// Candidate describes who bids, for Leader, status pages and logs.
	Candidate Candidate
	// TTL is how long the lease lasts at the store. It is a whole number of
	// milliseconds.
	TTL time.Duration
	// MaxTTL is the longest TTL of any candidate: how long guards of the store
	// last at least. 0 means TTL.
	MaxTTL time.Duration
	// Floor is the highest token that the candidate knows of. The store
	// answers with a larger one or not at all.
	Floor Token
}

// A Grant is a lease that a store gave for a bid.
type Grant struct {
	Bid
	// Token is this term's fencing token. Renewals never change it.
	Token Token
	// Held is how many masters confirmed the lease in the call that returned
	// this grant, out of Masters. Both are 1 in single mode.
	Held, Masters int
	// Asked is a request to hand over that a renewal found in the store; nil if
	// there is none. It may be an old one: see HandOver.Token.
	Asked *HandOver
	// State belongs to the store: whatever it needs to keep in order the
	// operations of one term. The elector hands it back untouched.
	State any
}

// A Store keeps leases. It does one thing at a time and remembers no
// leadership: timing, deadlines and retries are the elector's alone.
//
// All calls may come from many goroutines, each is bounded in time by the
// store itself as well as by ctx, and none may report success that it has not
// seen confirmed.
type Store interface {
	// Acquire tries once. It succeeds only with a lease that was free, or that
	// this very bid already holds (so a lost reply or a client's hidden retry
	// never loses to itself). When somebody else holds the lease the error is a
	// *HeldError; when somebody may still believe in a lease that was lost it is
	// a *GuardError; when votes were split it matches ErrContended; everything
	// else tells which master failed and why.
	//
	// A bid that failed, or whose outcome is unknown, is undone by the store:
	// it sends releases, for each master only after that master's answer came
	// in or timed out, in the background and bounded. Settle waits for them.
	Acquire(ctx context.Context, b Bid) (Grant, error)
	// Renew lengthens the lease of g to a full TTL, only where g.Value still
	// holds it. The error matches ErrTaken or ErrExpired when it is certain
	// that the lease is gone; any other error is an unknown outcome.
	Renew(ctx context.Context, g Grant) (Grant, error)
	// Release gives the lease back where g.Value still holds it and wakes
	// standbys. It touches nothing else. The error matches ErrExpired when the
	// lease had lapsed already, ErrTaken when somebody else holds it.
	Release(ctx context.Context, g Grant) (Released, error)
	// Inspect reads what every master stores. Masters that cannot be reached
	// are part of the answer; the error is for a question that could not be
	// asked at all.
	Inspect(ctx context.Context) (State, error)
	// Released returns a channel that receives a hint whenever the lease may
	// have become free, and whenever hints may have been missed. Hints may be
	// lost, doubled or late. The channel lives until ctx ends; nothing is sent
	// after that.
	Released(ctx context.Context) (<-chan struct{}, error)
	// Settle waits until all work that the store does in the background (late
	// votes, undone bids) has ended, or ctx has.
	Settle(ctx context.Context) error
}

// Released says what a successful release found out.
type Released struct {
	// Waiting is how many standbys the wake-up reached, at the master that
	// reached most. 0 when nobody listens or the wake-up was not permitted.
	Waiting int
}

// A Candidate is who takes part in an election.
type Candidate struct {
	// ID names the candidate for people. Two candidates may carry the same one
	// by mistake; ownership never depends on it.
	ID string `json:"id"`
	// Host and PID say where it runs.
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	// Instance is random per elector: it tells two candidates with one ID apart.
	Instance string `json:"instance,omitempty"`
	// Metadata is whatever the user wants others to see, such as an address.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// A Leader is who leads by what the store says. The store may be behind the
// facts, and a leader may have stopped without telling.
type Leader struct {
	Candidate
	// Token of the term that holds the lease.
	Token Token
	// TTL is the length of lease that the leader asked for; 0 if unknown.
	TTL time.Duration
	// Left is how long the lease still ran when the store answered; 0 if
	// unknown. In quorum mode it is the time until a majority would be free.
	Left time.Duration
}

// State is what Inspect found.
type State struct {
	// Leader is who holds the lease at enough masters; nil when nobody does.
	Leader *Leader
	// Last is the highest token that any reachable master has issued or sealed.
	Last Token
	// Masters has one entry a master, in the order of configuration.
	Masters []MasterState
	// Parts are the states of the stores that this one is made of, whose masters are
	// in Masters, too; nil for a store that is not made of others.
	Parts []State
}

// MasterState is what one master stores about the election.
type MasterState struct {
	// Name is the master's address.
	Name string
	// Reachable is false when the master gave no usable answer; Err says why.
	Reachable bool
	Err       error
	// Role is "master" or "slave" in Redis' words; "" if the server hides it.
	Role string
	// RunID identifies the server process; "" if the server hides it.
	RunID string
	// Version is the server's own; "" if it hides it.
	Version string
	// Holder is who holds this master's lease; nil when it is free.
	Holder *Leader
	// Latest is who got this master's vote last, also when that lease has ended or
	// never became a term; nil if it does not say. Its Left is 0.
	Latest *Leader
	// Value is the lease's unique value, "" when it is free.
	Value string
	// Last is the highest token issued or sealed here.
	Last Token
	// ReleasedToken is the token of the last released term; 0 if none.
	ReleasedToken Token
	// Until is the server time up to which the last lease runs; zero if
	// released or unknown.
	Until time.Time
	// Now is the server's own time when it answered.
	Now time.Time
	// Guards are those that would refuse a bid now, GuardUntil the server time
	// up to which the last of them does; zero when none would. The clock guard
	// is as this process sees it.
	Guards     StoreGuards
	GuardUntil time.Time
	// Heir is the ID of the candidate for which HandOverGuard keeps the lease; "" if
	// it does not.
	Heir string
	// Initialised says that Init was called here, and nobody has led since the record was
	// begun.
	Initialised bool
	// Arms is how often the failover guard was armed since the last grant.
	Arms int
}
