package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A World is what a lab offers to faults. Arguments are names of candidates. A
// method returns once the thing has happened, without any lasting effect when it
// returns an error, which wraps [ErrMissed] when there was nobody to do it to. Faults
// that strike masters need more: see [StoreWorld].
type World interface {
	// Leader is who leads now, by what the candidates themselves report; ""
	// when nobody does.
	Leader() string
	// Resign asks a candidate to end its work. It returns when it is asked, not
	// when it has resigned.
	Resign(candidate string) error
	// Kill ends a candidate's process, as SIGKILL does. Its kernel closes its
	// connections.
	Kill(candidate string) error
	// Freeze stops a candidate's process, as SIGSTOP does.
	Freeze(candidate string) error
	// FreezeBeforeWrite freezes a candidate as soon as it has checked that it
	// leads and is about to act on that.
	FreezeBeforeWrite(candidate string) error
	// Thaw lets a frozen candidate go on.
	Thaw(candidate string) error
	// Cut makes the links between a candidate and all masters black holes. The
	// resource that the leader works on stays within reach.
	Cut(candidate string) error
	// Heal undoes Cut.
	Heal(candidate string) error
}

// A Fault is one way to lose a leader, or to make a store forget it.
type Fault struct {
	// Name is how tables and flags call it.
	Name string
	// About says in one line what happens.
	About string
	// Strike makes it happen to w's leader, or to one of w's masters. It returns
	// how to undo it, nil when there is nothing to undo.
	Strike func(w World) (heal func() error, err error)
	// Releases says that the lease is given back, so that its floor is 0
	// whatever the store still holds when the fault strikes.
	Releases bool
	// Least and Most are for how many TTLs it lasts before it is healed. When both
	// are 0 it is healed, if that can be, after a successor has had its time.
	Least, Most float64

	// Store says that it strikes masters and not the leader, so that the guards
	// of the store matter and the lab must be a [StoreWorld].
	Store bool
	// Danger says when it can put two leaders side by side.
	Danger Danger
	// Stalls says that a leader may be stopped between its check and its act, so
	// that the act is late whatever the lease says.
	Stalls bool
	// Acks is how many replicas must have acknowledged what a store counts; 0 for
	// none.
	Acks int
	// Simulated says that it needs a [StoreWorld] though it strikes no master: no
	// lab of real processes can do it.
	Simulated bool
	// Calm says that nothing happens, so that a lab can measure what costs
	// masters while all is well.
	Calm bool
	// Kills is how many candidates it ends for good, Loses how many masters.
	// When none is left of the former, or no majority of the latter, nobody can
	// lead any more.
	Kills, Loses int
	// Replaces is how often another server, or one that remembers nothing, comes in
	// place of a master.
	Replaces int
	// SetsClock says that it sets a master's clock.
	SetsClock bool
}

// Danger says when a fault can make two candidates believe at once that they lead.
type Danger int

// Dangers, from the least to the greatest.
const (
	// Harmless: never. Leases see to that, with and without guards of the store.
	Harmless Danger = iota
	// Guarded: only where the guards of the store are off.
	Guarded
	// Remaining: whatever the guards do. Only a resource that compares tokens
	// helps.
	Remaining
)

// Length is how long the fault lasts when leases last ttl. random, from 0 to
// below 1, chooses within the fault's range.
func (f Fault) Length(ttl time.Duration, random float64) time.Duration {
	return time.Duration(float64(ttl) * (f.Least + (f.Most-f.Least)*random))
}

// All lists the faults in the order in which tables show them: those that strike
// the leader, then those that strike the store, by their danger.
func All() []Fault {
	return []Fault{
		calm(), resign(), crash(), pause(), pauseWrite(), suspend(), partition(), slowLink(), lossyLink(),
		masterCrash(), masterPartition(), partitionMajority(), hungMaster(), lostReply(), scriptFlush(),
		clientKill(), clientPause(), outOfMemory(), noReplicas(), restartAOF(),
		clockBack(), failoverAcks(), oldPrimaryAcks(),
		restartEmpty(), restartOld(), readOnly(), failover(), failoverTwice(), flushAll(), del(), evict(), clockJump(), random(),
		oldPrimary(), clockJumpNew(),
	}
}

// Groups of faults: those that strike the leader, those that strike the store, and
// all.
const (
	Leader = "leader"
	Store  = "store"
	Every  = "all"
)

// Names lists the names of [All].
func Names() []string { return Group(Every) }

// In reports whether the fault belongs to a group.
func (f Fault) In(group string) bool {
	return group == Every || group == Store && f.Store || group == Leader && !f.Store
}

// Group lists the names of the faults of a group; none if there is no such group.
func Group(group string) []string {
	var list []string
	for _, f := range All() {
		if f.In(group) {
			list = append(list, f.Name)
		}
	}
	return list
}

// Expand replaces groups in a list by the names of their faults.
func Expand(list []string) []string {
	var out []string
	for _, name := range list {
		if group := Group(name); group != nil {
			out = append(out, group...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// Shorten is what Expand makes these names of: a group, if they are all of one, else
// the names.
func Shorten(names []string) []string {
	for _, group := range []string{Every, Store, Leader} {
		if slices.Equal(names, Group(group)) {
			return []string{group}
		}
	}
	return names
}

// ByName finds a fault. The error lists those that exist.
func ByName(name string) (Fault, error) {
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
	}
	return Fault{}, fmt.Errorf("fault %q: must be one of %s", name, strings.Join(Names(), ", "))
}
