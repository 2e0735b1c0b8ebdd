package decide

import (
	"time"

	"incumbent/compare"
)

// A Decision says which mode of a result fits an SLO.
type Decision struct {
	SLO SLO
	// Met says that at least one mode fits, by what was measured in a whole run in
	// which no rule was broken.
	Met bool
	// Choice is the cheapest of those that fit: fewest servers, then fewest commands a
	// second. It points into Options; nil when Met is false.
	Choice *Option
	// Options has one for each mode of the plan, in its order.
	Options []Option
	// Flaw says why the run is no basis for a decision: it ended early, a run could not be
	// played, or a rule was broken. "" when it is one.
	Flaw string
	// Reason says in a few sentences why: what fits and what it costs, or what rules
	// each mode out and what would help instead.
	Reason string
	// Next is the command to go on with: it measures what was worked out, or what was
	// not measured. "" when there is nothing to measure; where Elsewhere is not Here, no
	// comparison helps, and Elsewhere.Step says what does.
	Next string
	// Notes are what a reader must know beside the reason, a sentence or two each:
	// what was not asked, and what no elector does.
	Notes []string
	// Elsewhere says that nothing that was played, at whatever TTL, will do.
	Elsewhere Elsewhere
}

// Elsewhere is where to look when no mode fits.
type Elsewhere int

const (
	// Here: a mode fits, may fit at another TTL, or was not measured enough to tell.
	Here Elsewhere = iota
	// Consensus: a store that agrees on every write, such as etcd or ZooKeeper.
	Consensus
	// Resource: no elector helps. The resource must compare tokens, or the work must be
	// idempotent.
	Resource
	// Nowhere: no way to elect is known that keeps to it. The SLO must give way.
	Nowhere
)

// An Option is one mode, held against the SLO.
type Option struct {
	Mode compare.Mode
	// Fits says that every requirement was measured and met at the TTL that was played.
	Fits bool
	// TTL and Renew are the settings that were played if the mode fits, else those of
	// Advice; 0 when there are none.
	TTL, Renew time.Duration
	// Failover is the longest failover after a crash of the leader to expect at that
	// TTL: a lease that has just been renewed, and the largest overshoot that was seen.
	// With no such TTL it is that of the TTL which was played; 0 when no crash was
	// played.
	Failover time.Duration
	// Servers is how many masters the mode needs. Rate is in commands a second of all
	// candidates together while nothing is wrong, at that same TTL; 0 when it was not
	// measured.
	Servers int
	Rate    float64
	// Misses has a sentence for each requirement that was missed or not measured.
	Misses []string

	// Played is the TTL of the plan, Checks what was found of each requirement at it.
	Played time.Duration
	Checks []Check
	// Advice is another TTL that should fit: when a requirement is missed that a TTL
	// can mend, or when there is much room. nil when there is none.
	Advice *Advice
}

// A Check is one requirement, held against one mode.
type Check struct {
	// Key is the requirement as the SLO names it.
	Key   string
	State State
	// Value is the figure that counts, Rule what is asked for, Found a sentence that
	// says what was measured, in how many runs, and how seldom it is otherwise.
	Value, Rule, Found string
	// Add is the flag of compare that plays what was not measured; "" when all was.
	Add string
}

// State says how a requirement stands.
type State int

// States of a requirement.
const (
	Missed State = iota
	NotMeasured
	Met
)

// Advice is another TTL and what it should give. It is worked out, not measured:
// Confirm measures it.
type Advice struct {
	TTL, Renew time.Duration
	// Failover and Leaderless are the longest to expect; 0 when there was nothing to
	// work them out from.
	Failover, Leaderless time.Duration
	// Rate is in commands a second; 0 when none was measured.
	Rate float64
	// Why says what it is derived from.
	Why string
	// Confirm is the command that plays the mode at that TTL against the same SLO.
	Confirm string
}
