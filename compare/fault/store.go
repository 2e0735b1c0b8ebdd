package fault

import (
	"errors"
	"fmt"
)

// A StoreWorld is a World that can also do something to masters, which have
// numbers from 0 on.
type StoreWorld interface {
	World
	// Random returns the next random number of the run, from 0 to below 1.
	Random() float64
	// Pass lets so many TTLs go by.
	Pass(ttls float64)
	// Masters is how many there are: 1, or an odd number.
	Masters() int
	// Struck says that the fault strikes a master at this instant. It is called
	// right before that is done.
	Struck(master int)

	// CutFrom makes the link between a candidate and one master a black hole.
	CutFrom(candidate string, master int) error
	// HealFrom undoes CutFrom. What was held up on the way arrives.
	HealFrom(candidate string, master int) error
	// Stop ends a master's process for good.
	Stop(master int) error
	// Restart ends a master's process and starts it again at once, with that much of
	// its data.
	Restart(master int, with Data) error
	// Jump sets a master's clock ahead by so many TTLs, or back if negative.
	Jump(master int, ttls float64) error
	// Flush deletes all that a master stores.
	Flush(master int) error
	// Forget deletes the lease at a master.
	Forget(master int) error
	// Evict has a master that is short of memory evict the lease, and the election's
	// record if told so.
	Evict(master int, record bool) error

	// Snapshot keeps what a master stores now: what a replica has that lags from
	// now on, or a file on disk.
	Snapshot(master int) error
	// Demote is Snapshot, where the one that lags is the server that Promote
	// replaced before.
	Demote(master int) error
	// Promote has every candidate but one reach the replica that holds the last
	// snapshot in place of a master; but may be "".
	Promote(master int, but string) error
	// Follow has a candidate that was left out reach the replica, too.
	Follow(candidate string, master int) error

	// Candidates lists those that are alive.
	Candidates() []string
	// Slow makes all links of a candidate slower by so many TTLs each way; 0 makes
	// them as they were. The last call counts.
	Slow(candidate string, ttls float64) error
	// Lose loses that share of all that travels on a candidate's links, until it is
	// sent again; 0 makes them as they were. The last call counts.
	Lose(candidate string, share float64) error
	// LoseReply loses the reply to the next script that a candidate has a master
	// run. The connection is reset, or else silent until HealFrom.
	LoseReply(candidate string, master int, reset bool) error
	// Hang stops a master's process, as SIGSTOP does.
	Hang(master int) error
	// Resume lets a master that hangs go on: it executes all that has come.
	Resume(master int) error
	// FlushScripts has a master forget all scripts.
	FlushScripts(master int) error
	// KillClients has a master close the connections of all candidates.
	KillClients(master int) error
	// PauseClients has a master execute nothing for so many TTLs. It accepts connections,
	// and in the end executes what came on those that are still open.
	PauseClients(master int, ttls float64) error
	// Refuse has a master refuse writes.
	Refuse(master int, why Refusal) error
	// Accept undoes all that Refuse has done to a master.
	Accept(master int) error
	// Suspend stops a candidate's host: its timers stand still, but not the clock
	// that counts since the host was started.
	Suspend(candidate string) error
	// Wake lets a suspended host go on.
	Wake(candidate string) error

	// Refresh replaces all candidates but the leader by new processes, which have
	// seen nothing of the masters.
	Refresh() error
}

// Data says what a master still has after a restart.
type Data int

// Data of a master: nothing, those of its last snapshot, or all that it had acknowledged.
const (
	NoData Data = iota
	SavedData
	AllData
)

// A Refusal is why a master refuses writes.
type Refusal int

const (
	// OutOfMemory: it has reached its limit. A script that begins with a write that
	// needs no memory, such as an expiry, is let through.
	OutOfMemory Refusal = iota
	// NoReplicas: fewer replicas than min-replicas-to-write.
	NoReplicas
	// EmptyPrimary: it is a replica of a server without data, and has none any more.
	EmptyPrimary
	// StalePrimary: it is a replica of the server that holds its last snapshot, and has
	// the data of that.
	StalePrimary
)

var (
	// ErrUnsupported is the error of a fault that a lab cannot do.
	ErrUnsupported = errors.New("not supported by this lab")
	// ErrMissed is the error of a fault that found nobody to strike: it may be tried
	// again.
	ErrMissed = errors.New("it struck nobody")
)

// onStore is the Strike of a fault that needs a StoreWorld.
func onStore(strike func(w StoreWorld) (func() error, error)) func(World) (func() error, error) {
	return func(w World) (func() error, error) {
		s, ok := w.(StoreWorld)
		if !ok {
			return nil, fmt.Errorf("it needs a simulation: %w", ErrUnsupported)
		}
		return strike(s)
	}
}

// bareShare is in how many of all runs with several masters the leader holds a bare
// majority. lapse is after how many TTLs its lease has run out elsewhere.
const (
	bareShare = 0.75
	lapse     = 1.1
)

// target is what a fault of the store is aimed at.
type target struct {
	w      StoreWorld
	leader string
	master int
	others []int // all other masters, in random order
	cut    []int // the leader is cut off from these
}

// aim picks one of the masters that the leader holds, as the package says.
func aim(w StoreWorld) (*target, error) {
	t := pick(w)
	if err := t.corner(); err != nil {
		return nil, err
	}
	return t, nil
}

// pick picks a master.
func pick(w StoreWorld) *target {
	order := make([]int, w.Masters())
	for i := range order { // each new one trades places with any before it
		j := int(w.Random() * float64(i+1))
		order[i], order[j] = order[j], i
	}
	return &target{w: w, leader: w.Leader(), master: order[0], others: order[1:]}
}

// corner leaves the leader a bare majority, in most runs, and lets a random part of
// its renewals' time pass. After an error nothing of it is left.
func (t *target) corner() error {
	err := t.surround()
	if err == nil {
		err = t.still()
	}
	if heal := t.heal(); err != nil && heal != nil {
		err = errors.Join(err, heal())
	}
	return err
}

// surround is what corner does.
func (t *target) surround() error {
	if t.exact() {
		return nil
	}
	if spare := len(t.others) / 2; spare > 0 && t.w.Random() < bareShare {
		for _, m := range t.others[:spare] {
			if err := t.w.CutFrom(t.leader, m); err != nil {
				return err
			}
			t.cut = append(t.cut, m)
		}
		t.w.Pass(lapse)
	}
	t.phase()
	return nil
}

// phase lets a random part of the time between two renewals pass.
func (t *target) phase() {
	if !t.exact() {
		t.w.Pass(t.w.Random() / 2)
	}
}

// exact reports whether a schedule says when this strikes.
func (t *target) exact() bool {
	p, ok := t.w.(*player)
	return ok && p.exact
}

// still is an error when the leader does not lead any more before it is struck.
func (t *target) still() error {
	if now := t.w.Leader(); now != t.leader {
		return fmt.Errorf("%w: %s led, and %q leads before any fault", ErrMissed, t.leader, now)
	}
	return nil
}

// heal undoes corner; nil when there is nothing to undo.
func (t *target) heal() func() error {
	if len(t.cut) == 0 {
		return nil
	}
	return func() error {
		var errs []error
		for _, m := range t.cut {
			errs = append(errs, t.w.HealFrom(t.leader, m))
		}
		return errors.Join(errs...)
	}
}

// and is heal after first.
func (t *target) and(first func() error) func() error {
	whole := t.heal()
	return func() error {
		err := first()
		if whole != nil {
			err = errors.Join(err, whole())
		}
		return err
	}
}

// once is the Strike of a fault that does one thing to one master.
func once(do func(w StoreWorld, master int) error) func(World) (func() error, error) {
	return onStore(func(w StoreWorld) (func() error, error) {
		t, err := aim(w)
		if err != nil {
			return nil, err
		}
		w.Struck(t.master)
		return t.heal(), do(w, t.master)
	})
}
