package report

import (
	"fmt"
	"io"
	"strings"

	"incumbent/compare"
	"incumbent/compare/measure"
)

// lineWidth is where sentences are broken.
const lineWidth = 95

// shown is how many broken rules and failed runs are written out.
const shown = 10

// Verdict writes what the result comes down to, in two sentences, and what is wrong
// with it, if anything is: broken rules and failed runs, each with the command that
// plays it again.
func Verdict(w io.Writer, r *compare.Result) error {
	var b strings.Builder
	total := r.Plan.Runs * r.Plan.Cells()
	switch {
	case r.GaveUp:
		fmt.Fprintf(&b, "Gave up since %d runs failed: %d of %d were played.\n", len(r.Failed), r.Runs, total)
	case r.Interrupted:
		fmt.Fprintf(&b, "Interrupted: %d of %d runs were played.\n", r.Runs, total)
	}
	if r.Runs > 0 {
		fmt.Fprintf(&b, "%s\n", wrap(safety(r)+" "+speed(r), lineWidth))
	}
	for i, f := range r.Broken {
		if i == shown {
			fmt.Fprintf(&b, "and %d more\n", len(r.Broken)-shown)
			break
		}
		fmt.Fprintf(&b, "BROKEN, seed %d: %s\n  replay: %s\n", f.Job.Seed, f.Violation, f.Job.Command())
	}
	for i, f := range r.Failed {
		if i == shown {
			fmt.Fprintf(&b, "and %d more\n", len(r.Failed)-shown)
			break
		}
		fmt.Fprintf(&b, "FAILED, seed %d: %v\n  repeat: %s\n", f.Job.Seed, f.Err, f.Job.Command())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// safety says whether two led, and what the fence did.
func safety(r *compare.Result) string {
	var overlaps, tried, free, fenced int
	for _, c := range r.Cells {
		tried += c.StaleAttempted
		free += c.StaleAcceptedUnfenced
		fenced += c.StaleAcceptedFenced
		if c.BeliefOverlap.Max > 0 {
			overlaps++
		}
	}
	s := fmt.Sprintf("Two candidates believed to lead at once in 0 of %d runs", r.Runs)
	if overlaps > 0 {
		s = fmt.Sprintf("TWO CANDIDATES BELIEVED TO LEAD AT ONCE in %d of %d cells", overlaps, len(r.Cells))
	}
	if tried == 0 {
		return s + fmt.Sprintf(", and 0 of %d acts came from a leader of the past.", r.Acts)
	}
	return s + fmt.Sprintf("; yet of %s sent by leaders of the past, a resource without a fence took %d, one with a fence %s.",
		plural(tried, "act"), free, outOf(fenced, tried))
}

// speed compares modes by what they add to the lease's own time.
func speed(r *compare.Result) string {
	var parts []string
	for _, m := range r.Plan.Modes {
		if q := slowest(r, m); q.N > 0 {
			parts = append(parts, fmt.Sprintf("%s ms with %s", ms(q.P90), m))
		}
	}
	if len(parts) == 0 {
		return "No leader was replaced."
	}
	return fmt.Sprintf("Under the slowest fault, 9 of 10 successors began after the lease was free within %s.",
		list(parts))
}

// slowest is the overshoot of a mode under the fault where its p90 is largest.
func slowest(r *compare.Result, m compare.Mode) (q measure.Quantiles) {
	for _, c := range r.Cells {
		if name(c) == m.String() && c.Overshoot.N > 0 && (q.N == 0 || c.Overshoot.P90 > q.P90) {
			q = c.Overshoot
		}
	}
	return q
}
