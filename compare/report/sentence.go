package report

import (
	"fmt"
	"slices"
	"strings"

	"incumbent/compare"
	"incumbent/compare/measure"
)

// conclusion is a report in two sentences: the answer to an SLO first, and whether two
// led at once; or, where nobody asked, that and what a crash and a pause cost.
func conclusion(rep Report) []string {
	switch {
	case rep.Result.Runs == 0:
		return []string{"Nothing was measured."}
	case rep.Decision != nil:
		return []string{rep.Decision.Conclusion(), ledAtOnce(rep.Result)}
	}
	return []string{ledAtOnce(rep.Result), crashAndPause(rep)}
}

// hint says what may be asked for, where nothing was and there is a choice.
func hint(rep Report) string {
	if rep.Decision != nil || rep.Result.Runs == 0 {
		return ""
	}
	var one, many bool
	for _, m := range rep.Result.Plan.Modes {
		one, many = one || m.Masters == 1, many || m.Masters > 1
	}
	if !one || !many {
		return ""
	}
	return "No limits given (--slo): single is cheapest, quorum goes on without a server."
}

// ledAtOnce says whether two did.
func ledAtOnce(r *compare.Result) string {
	runs, with, worst := sum(r.Cells, func(c measure.Cell) bool { return c.Promise().Belief })
	offRuns, offWith, offWorst := sum(r.Cells, func(c measure.Cell) bool { return closes(c) && !guarded(c) })
	off := ""
	if offRuns > 0 {
		off = fmt.Sprintf("without guards in %s of %s runs of the faults that guards are for", grouped(offWith), grouped(offRuns))
	}
	if offWith > 0 {
		off += fmt.Sprintf(", for up to %s (%s, %s)", millis(offWorst.BeliefWindow.Max), offWorst.Fault, name(offWorst))
	}
	switch {
	case runs == 0 && off == "":
		return "No fault was played under which leases or guards promise one leader."
	case runs == 0:
		return "Two candidates believed to lead at once " + off + "."
	case with > 0:
		return fmt.Sprintf("TWO CANDIDATES BELIEVED TO LEAD AT ONCE in %s of %s runs where %s that out, for up to %s (%s, %s).",
			grouped(with), grouped(runs), ruling(r), millis(worst.BeliefWindow.Max), worst.Fault, name(worst))
	}
	s := fmt.Sprintf("Where %s it out, two candidates believed to lead at once in %s", ruling(r), none(runs))
	if off != "" {
		s += "; " + off
	}
	return s + "."
}

// ruling says what sees to it that one leads, in what was played.
func ruling(r *compare.Result) string {
	if withGuards(r.Cells) {
		return "leases and guards rule"
	}
	return "leases alone rule"
}

// withGuards reports whether any cell was played with guards on.
func withGuards(cells []measure.Cell) bool { return slices.ContainsFunc(cells, guarded) }

// crashAndPause says what every mode does after a crash, and what no mode can do
// about an act that is late.
func crashAndPause(rep Report) string {
	var parts []string
	all, longest := len(rep.Result.Plan.Modes), 0.0
	for _, m := range rep.Result.Plan.Modes {
		for _, c := range rep.Result.Cells {
			if c.Fault != crashFault || name(c) != m.String() || c.Failover.N == 0 {
				continue
			}
			longest = max(longest, c.Failover.Max)
			part := fmt.Sprintf("%s (%s", millis(c.Failover.Max), m)
			if c.Failover.N < c.Runs {
				all = 0
				part += fmt.Sprintf(", in %s of %s runs", grouped(c.Failover.N), grouped(c.Runs))
			}
			parts = append(parts, part+")")
			break
		}
	}
	late := lateActs(stalesOf(rep.Result.Cells))
	if len(parts) == 0 {
		return strings.ToUpper(late[:1]) + late[1:] + "."
	}
	within := list(parts)
	if len(parts) == all && all > 1 { // the table has them one by one
		within = millis(longest) + " in all modes"
	}
	return fmt.Sprintf("A crashed leader was replaced within %s; %s.", within, late)
}

// lateActs says what became of acts of the past.
func lateActs(s stales) string {
	if s.attempted == 0 {
		return "an act of a leader of the past arrived in " + none(s.runs)
	}
	return fmt.Sprintf("of %s by leaders of the past%s a resource without a fence took %s, one with a fence %s",
		times(s.attempted, "act"), s.where(), grouped(s.unfenced), ofAll(s.fenced, s.attempted))
}

// ofAll writes a count; none as "0 of n".
func ofAll(k, n int) string {
	if k == 0 {
		return "0 of " + grouped(n)
	}
	return grouped(k)
}
