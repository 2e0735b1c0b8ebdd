package election

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// StoreGuards names guards of a store: what it does about a master that may
// have forgotten a lease, by making bids wait until whoever held it must know
// that it is over. A set of them is their sum. docs/protocol.md has their rules.
//
// What no guard of a store can help against is a leader that is paused between
// a check and an act: see Guard.
type StoreGuards uint8

// The guards of a store.
const (
	// RestartGuard: a server that started less than a TTL ago grants nothing,
	// since it may have granted before (R3).
	RestartGuard StoreGuards = 1 << iota
	// FailoverGuard: a server that is not the one that granted last grants
	// nothing for a TTL from first sight, since a replica that was promoted may
	// have missed the lease (R4).
	FailoverGuard
	// NoRecordGuard: a server that knows nothing of the election grants nothing
	// for a TTL from first sight: a wiped store looks like a new one (R6).
	NoRecordGuard
	// ExpiryGuard: a lease that is gone before its time, deleted or evicted, is
	// not granted to another before that time (R7).
	ExpiryGuard
	// ClockGuard: a server whose clock ran ahead of ours may have ended a lease
	// early; its grants are not used for a TTL (R8).
	ClockGuard
	// HandOverGuard: a lease that was handed over is kept for the candidate that was
	// asked for, for HandOver.Reserve. It guards no safety, only whose turn it is: it
	// is not one of AllGuards, and cannot be switched off.
	HandOverGuard

	// NoGuards is none of them, AllGuards all that keep a lost lease safe.
	NoGuards  StoreGuards = 0
	AllGuards             = RestartGuard | FailoverGuard | NoRecordGuard | ExpiryGuard | ClockGuard
)

// guardNames are in the order of their bits.
var guardNames = []string{"restart", "failover", "no-record", "early-expiry", "clock", "hand-over"}

// Has reports whether all of x are in g.
func (g StoreGuards) Has(x StoreGuards) bool { return g&x == x }

// String lists the guards by the names that docs/protocol.md has: "restart,clock";
// "none" if there is none.
func (g StoreGuards) String() string {
	var names []string
	for i, n := range guardNames {
		if g.Has(1 << i) {
			names = append(names, n)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ",")
}

// ParseStoreGuards reads what String writes of AllGuards, and "all". Names are
// separated by commas; "" means none. HandOverGuard is refused: it has no switch.
func ParseStoreGuards(s string) (StoreGuards, error) {
	var g StoreGuards
	for word := range strings.SplitSeq(s, ",") {
		switch word = strings.TrimSpace(word); word {
		case "", "none":
		case "all":
			g = AllGuards
		default:
			i := slices.Index(guardNames, word)
			switch {
			case i < 0:
				return 0, fmt.Errorf("guard %q: must be of %s, or all, or none", word, strings.ReplaceAll(AllGuards.String(), ",", ", "))
			case !AllGuards.Has(1 << i):
				return 0, fmt.Errorf("guard %q: cannot be switched on or off: it only keeps a lease for who was asked to lead next", word)
			}
			g |= 1 << i
		}
	}
	return g, nil
}

// ErrGuarded says that a guard of the store makes bids wait: nobody is known to
// hold the lease, but somebody may still believe in one, or it was handed over and
// is another candidate's turn. A *GuardError says which guard, and for how long.
var ErrGuarded = errors.New("waiting for a guard")

// GuardError is a bid that was refused by guards of the store. It matches
// ErrGuarded and ErrNotAcquired.
type GuardError struct {
	// Guards are those that refused. Several may run side by side.
	Guards StoreGuards
	// Masters are those whose guards refused.
	Masters []string
	// Left is how long a bid cannot succeed.
	Left time.Duration
	// Last is the highest token seen in the refusal.
	Last Token
}

// Error says which guards wait, where, and for how long.
func (e *GuardError) Error() string {
	why := "a lease that was forgotten there may still be believed in"
	if e.Guards == HandOverGuard {
		why = "the lease was handed over, and the candidate that was asked for goes first"
	}
	return fmt.Sprintf("%v: %s at %s for another %s (%s)", ErrGuarded, e.Guards, strings.Join(e.Masters, ", "), e.Left, why)
}

// Is makes a GuardError match ErrGuarded and ErrNotAcquired.
func (e *GuardError) Is(target error) bool { return target == ErrGuarded || target == ErrNotAcquired }
