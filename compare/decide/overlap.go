package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// overlaps sums up for how long two led, of the cells in which leases and guards see to
// it that none do.
type overlaps struct {
	runs, with   int
	belief, acts time.Duration
	where        string // the fault of the longest one
	missing      []string
	few          int // the fewest runs of a cell that is needed
}

func (s *subject) overlaps() overlaps {
	var sum overlaps
	missing := guarded()
	sum.few = -1
	for _, c := range s.cells {
		if !c.Promise().Belief {
			continue
		}
		if i := slices.Index(missing, c.Fault); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
			if sum.few < 0 || c.Runs < sum.few {
				sum.few = c.Runs
			}
		}
		belief, acts, with := milliseconds(c.BeliefWindow.Max), milliseconds(c.ActWindow.Max), max(c.BeliefWindow.N, c.ActWindow.N)
		if stalls(c) { // what a leader does after a pause is the fence's affair
			acts, with = 0, c.BeliefWindow.N
		}
		if max(belief, acts) > max(sum.belief, sum.acts) {
			sum.where = c.Fault
		}
		sum.runs += c.Runs
		sum.with += with
		sum.belief, sum.acts = max(sum.belief, belief), max(sum.acts, acts)
	}
	sum.missing = missing
	return sum
}

// overlap looks at beliefs and acts. Without a fence at the resource no limit holds: a
// leader that was stopped between its check and its act is as late as it was stopped.
func (s *subject) overlap() Check {
	sum := s.overlaps()
	most := max(sum.belief, sum.acts)
	value := fmt.Sprintf("%d of %s", sum.with, plural(sum.runs, "run"))
	found := "two led in " + value
	if sum.with > 0 {
		found += fmt.Sprintf(", for up to %s (%s)", short(most), sum.where)
		value += ", up to " + short(most)
	}
	switch {
	case s.slo.Fence == No:
		return Check{State: Missed, Value: "as long as a pause",
			Found: "without tokens at the resource an act comes as late as its process was stopped" + s.late()}
	case most > s.slo.Overlap.Max:
		return Check{State: Missed, Value: value, Found: found}
	case len(sum.missing) > 0 && !s.guardsOn():
		return *unmeasured("played without guards only", "--guards on")
	case len(sum.missing) > 0:
		return *unmeasured(strings.Join(sum.missing, ", ")+" not played", "--faults all")
	case sum.few < MinRuns:
		return *unmeasured(few(sum.few, "a fault"), "--runs 100")
	case sum.with > 0:
		return Check{State: Met, Value: value, Found: found}
	}
	return limited(true, sum.runs, value, "they do", found)
}

// late is how late acts were after pauses, where any were played.
func (s *subject) late() string {
	var most time.Duration
	var where string
	for _, c := range s.cells {
		if d := milliseconds(c.ActWindow.Max); stalls(c) && d > most {
			most, where = d, c.Fault
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf(": up to %s after the next term began (%s)", short(most), where)
}

// fence: that the resource compares tokens is the team's word. What was measured is that
// this suffices.
func (s *subject) fence() Check {
	tried, free, taken := s.stale()
	if s.slo.Fence == No {
		return Check{State: Met, Value: fmt.Sprintf("%d of %d stale acts taken", free, tried), Found: fmt.Sprintf(
			"the resource took %d of %s of past leaders; what they do is yours to answer for", free, plural(tried, "act"))}
	}
	c, missing := s.cell(pauseWrite)
	switch {
	case missing != nil:
		return *missing
	case tried == 0:
		return *unmeasured("no act of a past leader came", "--faults all")
	}
	return limited(taken == 0, c.Runs, fmt.Sprintf("%d of %d stale acts taken", taken, tried), "it takes one after a pause", fmt.Sprintf(
		"a resource that compares tokens took %d of %s of past leaders, one that does not %d", taken, plural(tried, "act"), free))
}

// stale adds up the acts of past leaders, with guards and without.
func (s *subject) stale() (tried, free, taken int) {
	for _, c := range s.r.Cells {
		if c.Mode == s.mode.Kind && c.Masters == s.mode.Masters {
			tried += c.StaleAttempted
			free += c.StaleAcceptedUnfenced
			taken += c.StaleAcceptedFenced
		}
	}
	return tried, free, taken
}
