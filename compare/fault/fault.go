package fault

import (
	"fmt"
	"strings"
	"time"
)

// A World is what a lab offers to faults. Arguments are names of candidates. A
// method returns once the thing has happened, without any lasting effect when it
// returns an error.
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

// A Fault is one way to lose a leader.
type Fault struct {
	// Name is how tables and flags call it.
	Name string
	// About says in one line what happens.
	About string
	// Strike makes it happen to w's leader. It returns how to undo it, nil when
	// there is nothing to undo.
	Strike func(w World) (heal func() error, err error)
	// Releases says that the lease is given back, so that its floor is 0
	// whatever the store still holds when the fault strikes.
	Releases bool
	// Least and Most are for how many TTLs it lasts before it is healed; both 0
	// when it is not.
	Least, Most float64
}

// Length is how long the fault lasts when leases last ttl. random, from 0 to
// below 1, chooses within the fault's range.
func (f Fault) Length(ttl time.Duration, random float64) time.Duration {
	return time.Duration(float64(ttl) * (f.Least + (f.Most-f.Least)*random))
}

// All lists the faults in the order in which tables show them.
func All() []Fault {
	return []Fault{resign(), crash(), pause(), pauseWrite(), partition()}
}

// Names lists the names of [All].
func Names() []string {
	names := make([]string, 0, len(All()))
	for _, f := range All() {
		names = append(names, f.Name)
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
