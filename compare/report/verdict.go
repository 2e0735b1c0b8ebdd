package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// lineWidth is where sentences are broken.
const lineWidth = 95

// shown is how many broken rules and failed runs are written out.
const shown = 10

// Verdict writes what the result comes down to, in a few sentences, and what is wrong
// with it, if anything is: broken rules and failed runs, each with the command that
// plays it again.
func Verdict(w io.Writer, r *compare.Result) error {
	var b strings.Builder
	total := r.Plan.Total()
	switch {
	case r.GaveUp:
		fmt.Fprintf(&b, "Gave up since %d runs failed: %d of %d were played.\n", len(r.Failed), r.Runs, total)
	case r.Interrupted:
		fmt.Fprintf(&b, "Interrupted: %d of %d runs were played.\n", r.Runs, total)
	}
	if r.Runs > 0 {
		b.WriteString(sentences(r))
	}
	b.WriteString(trouble(r))
	_, err := io.WriteString(w, b.String())
	return err
}

// Trouble writes the rules that were broken and the runs that failed, each with the
// command that plays it again; nothing if there are none.
func Trouble(w io.Writer, r *compare.Result) error {
	_, err := io.WriteString(w, trouble(r))
	return err
}

func trouble(r *compare.Result) string {
	var b strings.Builder
	for i, f := range r.Broken {
		if i == shown {
			fmt.Fprintf(&b, "and %d more\n", len(r.Broken)-shown)
			break
		}
		fmt.Fprintf(&b, "BROKEN, seed %d: %s\n  replay: %s\n", f.Job.Seed, f.Violation, f.Job.Command(r.Lab))
	}
	for i, f := range r.Failed {
		if i == shown {
			fmt.Fprintf(&b, "and %d more\n", len(r.Failed)-shown)
			break
		}
		fmt.Fprintf(&b, "FAILED, seed %d: %v\n  repeat: %s\n", f.Job.Seed, f.Err, f.Job.Command(r.Lab))
	}
	return b.String()
}

// sentences are what a result comes down to, a paragraph each.
func sentences(r *compare.Result) string {
	var b strings.Builder
	for _, s := range []string{broken(r.Cells), promised(r), unguarded(r), remaining(r), stale(r), speed(r)} {
		if s != "" {
			fmt.Fprintf(&b, "%s\n", wrap(s, lineWidth))
		}
	}
	return b.String()
}

// sum adds up runs and those with an overlap of beliefs, of the cells that are
// wanted, and finds the one with the longest.
func sum(cells []measure.Cell, wanted func(measure.Cell) bool) (runs, with int, worst measure.Cell) {
	for _, c := range cells {
		if !wanted(c) {
			continue
		}
		runs += c.Runs
		with += c.BeliefWindow.N
		if c.BeliefWindow.Max > worst.BeliefWindow.Max {
			worst = c
		}
	}
	return runs, with, worst
}

// closes reports whether guards of the store are what keeps a cell's fault from
// making two leaders.
func closes(c measure.Cell) bool {
	return promiseWith(c, history.GuardsOn).Belief && !promiseWith(c, history.GuardsOff).Belief
}

// stalls reports whether a leader may be stopped between its check and its act in a
// cell, so that guards do not keep acts from being late.
func stalls(c measure.Cell) bool {
	return c.Lab == history.Virtual && !promiseWith(c, history.GuardsOn).Acts
}

// promiseWith is what a cell would promise with such guards.
func promiseWith(c measure.Cell, guards string) measure.Promise {
	c.Guards = guards
	return c.Promise()
}

// broken says whether two led where leases and guards promise that none do.
func broken(cells []measure.Cell) string {
	runs, with, worst := sum(cells, func(c measure.Cell) bool { return c.Promise().Belief })
	if with == 0 {
		return ""
	}
	return fmt.Sprintf("TWO CANDIDATES BELIEVED TO LEAD AT ONCE in %d of %d runs where leases and guards rule that out, for up to %s ms (%s, %s).",
		with, runs, ms(worst.BeliefWindow.Max), worst.Fault, name(worst))
}

// promised says in how many runs nobody did: where leases alone see to that, and
// where guards have to.
func promised(r *compare.Result) string {
	var parts []string
	for _, by := range []struct {
		guards bool
		what   string
	}{{false, "leases rule that out"}, {true, "the guards of the store rule that out"}} {
		runs, with, _ := sum(r.Cells, func(c measure.Cell) bool { return c.Promise().Belief && closes(c) == by.guards })
		if runs > 0 && with == 0 {
			parts = append(parts, fmt.Sprintf("in 0 of %d runs where %s (95 %% upper bound %s)", runs, by.what, tightPercent(measure.UpperBound(runs))))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Two candidates believed to lead at once " + list(parts) + "."
}

// unguarded says what guards buy, and what they cost.
func unguarded(r *compare.Result) string {
	runs, with, worst := sum(r.Cells, func(c measure.Cell) bool { return closes(c) && !guarded(c) })
	if runs == 0 {
		return ""
	}
	s := fmt.Sprintf("Without guards two did in %d of %d runs of the faults that guards are for", with, runs)
	if with > 0 {
		s += fmt.Sprintf(", for up to %s ms (%s, %s)", ms(worst.BeliefWindow.Max), worst.Fault, name(worst))
	}
	var slow measure.Cell
	for _, c := range r.Cells {
		if closes(c) && guarded(c) && c.Leaderless.P50 > slow.Leaderless.P50 {
			slow = c
		}
	}
	if slow.Runs == 0 {
		return s + "."
	}
	return s + fmt.Sprintf("; guards cost time in which nobody leads, %s ms in the median run of %s, %s.",
		ms(slow.Leaderless.P50), slow.Fault, name(slow))
}

// whatHelps says what does against faults that no guard closes.
const whatHelps = "Tokens at the resource help, and replica_acks for old-primary where no replica is cut off with the old primary."

// remaining lists what still overlaps with guards on.
func remaining(r *compare.Result) string {
	var parts, seen []string
	for _, c := range r.Cells {
		if known(r.Plan, c.Fault).Danger != fault.Remaining || !guarded(c) || slices.Contains(seen, c.Fault) {
			continue
		}
		seen = append(seen, c.Fault)
		runs, with, worst := sum(r.Cells, func(o measure.Cell) bool { return o.Fault == c.Fault && guarded(o) })
		if with > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d of %d runs, up to %s ms)", c.Fault, with, runs, ms(worst.BeliefWindow.Max)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "What no guard can close: " + list(parts) + ". " + whatHelps
}

// stale says what resources did with acts of the past.
func stale(r *compare.Result) string {
	var tried, free, fenced int
	for _, c := range r.Cells {
		tried += c.StaleAttempted
		free += c.StaleAcceptedUnfenced
		fenced += c.StaleAcceptedFenced
	}
	if tried == 0 {
		return fmt.Sprintf("Of %s 0 came from a leader of the past.", plural(r.Acts, "act"))
	}
	return fmt.Sprintf("Of %s sent by leaders of the past, a resource without a fence took %d, one with a fence %s.",
		plural(tried, "act"), free, outOf(fenced, tried))
}

// speed compares modes by what they add to the lease's own time when a leader is
// lost.
func speed(r *compare.Result) string {
	var parts []string
	for _, m := range r.Plan.Modes {
		if q := slowest(r, m); q.N > 0 {
			parts = append(parts, fmt.Sprintf("%s ms with %s", ms(q.P90), m))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Under the slowest fault of the leader, 9 of 10 successors began after the lease was free within %s.",
		list(parts))
}

// slowest is the overshoot of a mode under the fault of the leader where its p90 is
// largest.
func slowest(r *compare.Result, m compare.Mode) (q measure.Quantiles) {
	for _, c := range r.Cells {
		if name(c) == m.String() && !known(r.Plan, c.Fault).Store && c.Overshoot.N > 0 && (q.N == 0 || c.Overshoot.P90 > q.P90) {
			q = c.Overshoot
		}
	}
	return q
}
