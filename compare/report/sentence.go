package report

import (
	"fmt"
	"strings"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/measure"
)

// verdict is a report in two sentences: whether two led at once, and which mode to
// choose or, where nobody asked, what a crash and a pause cost.
func verdict(rep Report) []string {
	if rep.Result.Runs == 0 {
		return []string{"Nothing was measured."}
	}
	list := []string{ledAtOnce(rep.Result)}
	if rep.Decision != nil {
		return append(list, chosen(rep.Decision))
	}
	return append(list, crashAndPause(rep))
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
		return "Two candidates led at once " + off + "."
	case with > 0:
		return fmt.Sprintf("TWO CANDIDATES LED AT ONCE in %s of %s runs where leases and guards rule that out, for up to %s (%s, %s).",
			grouped(with), grouped(runs), millis(worst.BeliefWindow.Max), worst.Fault, name(worst))
	}
	s := fmt.Sprintf("Where leases and guards rule it out, two candidates led at once in %s", none(runs))
	if off != "" {
		s += "; " + off
	}
	return s + "."
}

// crashAndPause says what every mode does after a crash, and what no mode can do
// about an act that is late.
func crashAndPause(rep Report) string {
	var parts []string
	for _, m := range rep.Result.Plan.Modes {
		for _, c := range rep.Result.Cells {
			if c.Fault != crashFault || name(c) != m.String() || c.Failover.N == 0 {
				continue
			}
			part := fmt.Sprintf("%s (%s", millis(c.Failover.Max), m)
			if c.Failover.N < c.Runs {
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
	return fmt.Sprintf("A crashed leader was replaced within %s; %s.", list(parts), late)
}

// lateActs says what became of acts of the past.
func lateActs(s stales) string {
	if s.attempted == 0 {
		return "an act of a leader of the past arrived in " + none(s.runs)
	}
	return fmt.Sprintf("of %s by leaders of the past a resource without a fence took %s, one with a fence %s",
		times(s.attempted, "act"), grouped(s.unfenced), ofAll(s.fenced, s.attempted))
}

// chosen is a decision in a sentence.
func chosen(d *decide.Decision) string {
	if !d.Met || d.Choice == nil {
		return fmt.Sprintf("NO MODE FITS %s: %s", d.SLO, firstSentence(d.Reason))
	}
	c := d.Choice
	s := fmt.Sprintf("For %s choose %s with TTL %s, renewed every %s: %s", d.SLO, c.Mode, duration(c.TTL), duration(c.Renew), times(c.Servers, "server"))
	if c.Rate > 0 {
		s += ", " + perSecond(c.Rate) + " commands a second"
	}
	if c.Failover > 0 {
		s += fmt.Sprintf("; failover after a crash is expected within %s", millis(milliseconds(c.Failover)))
	}
	return s + "."
}

// firstSentence is text up to its first full stop.
func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "no reason is given."
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// ofAll writes a count; none as "0 of n".
func ofAll(k, n int) string {
	if k == 0 {
		return "0 of " + grouped(n)
	}
	return grouped(k)
}
