package measure

import (
	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// A Promise is what leases and guards promise of two leaders in one kind of run.
// Everything else that [Check] looks at is promised in every run.
type Promise struct {
	// Belief: the terms of two candidates are never valid together.
	Belief bool
	// Acts: no act of an earlier leader arrives after a later term began.
	Acts bool
}

// Promises says what is promised in a run of that fault, guards and lab; all else in
// it is of no concern. A fault that package fault does not know is taken for one
// that leases see to. Real processes may be stopped between a check and an act at any
// time, so that acts are promised in the virtual lab only.
func Promises(run history.Run) Promise {
	f, err := fault.ByName(run.Fault)
	if err != nil {
		f = fault.Fault{Danger: fault.Harmless}
	}
	belief := f.Danger == fault.Harmless || f.Danger == fault.Guarded && run.Guards != history.GuardsOff
	return Promise{Belief: belief, Acts: belief && !f.Stalls && run.Lab == history.Virtual}
}
