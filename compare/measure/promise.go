package measure

import (
	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// A Promise is what leases and guards promise in one kind of run. Everything else that
// [Check] looks at is promised in every run.
type Promise struct {
	// Belief: the terms of two candidates are never valid together.
	Belief bool
	// Acts: no act of an earlier leader arrives after a later term began.
	Acts bool
	// Tokens: each is larger than those of all earlier terms. They are made of a
	// record and a server's time (invariant 8): when both are lost, since a server's
	// clock was set and another one takes its place, or forgets, a token may be
	// smaller than one that its candidate never heard of. A fence then refuses the
	// new leader, who learns of the larger one by that.
	Tokens bool
	// Lead: somebody leads in the end.
	Lead bool
	// Deadlines: all deadlines count from before the request.
	Deadlines bool
	// Renewals: no renewal counts that was sent after a later term began.
	Renewals bool
	// StepDown: the work is told in time.
	StepDown bool
}

// Promises says what is promised in a run of that fault, guards and lab, and with so
// many masters and candidates; all else in it is of no concern. Where the run has
// steps it is what the worst of them leaves. A fault that package fault does not know
// is taken for one that leases see to. Real processes may be stopped between a check
// and an act at any time, so that acts are promised in the virtual lab only. So is what
// depends on instants, which are exact there, and on electors that have their default
// StepDown. A leader in the end is promised in those labs that wait for one: the virtual
// and the local one.
//
// Where guards are off two may lead, but a renewal of the former leader does not count
// all the same: a single fault leaves no majority to both. Where there are two primaries
// in one place it may, and where several faults strike, one may bring back what another
// took.
func Promises(run history.Run) Promise {
	f := faultOf(run)
	belief := f.Danger == fault.Harmless || f.Danger == fault.Guarded && run.Guards != history.GuardsOff
	virtual := run.Lab == history.Virtual
	waits := virtual || run.Lab == history.Local
	return Promise{
		Belief: belief,
		Acts:   belief && !f.Stalls && virtual,
		Tokens: !f.SetsClock || f.Replaces == 0,
		Lead:   waits && canLead(run, f),

		Deadlines: virtual && run.TTL > 0,
		Renewals:  virtual && run.TTL > 0 && (belief || f.Danger == fault.Guarded && len(run.Steps) == 0),
		StepDown:  virtual && run.TTL > 0 && !f.Stalls,
	}
}

// faultOf is what struck.
func faultOf(run history.Run) fault.Fault {
	if len(run.Steps) > 0 {
		return fault.Together(run.Steps)
	}
	f, err := fault.ByName(run.Fault)
	if err != nil {
		return fault.Fault{Danger: fault.Harmless}
	}
	return f
}

// canLead reports whether a fault leaves a majority of masters, and a candidate.
func canLead(run history.Run, f fault.Fault) bool {
	masters := run.Masters - f.Loses
	return run.Masters > 0 && masters > run.Masters/2 && (run.Candidates == 0 || run.Candidates > f.Kills)
}
