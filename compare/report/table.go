package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// groups are the columns of the table: at most 100 characters wide together with
// fewer than ten thousand runs a cell.
var groups = []group{
	{"", []string{"mode", "guards"}},
	{"failover, ms", []string{"p50", "p90"}},
	{"overshoot", []string{"p90"}},
	{"nobody", []string{"p50"}},
	{"kept", []string{""}},
	{"belief overlap, ms", []string{"runs", "p50", "max"}},
	{"acts", []string{"max"}},
	{"stale acts", []string{"sent", "fence"}},
}

// Table writes the table of r, a row for each fault, mode and setting of the guards.
// versions says with what it was measured.
func Table(w io.Writer, r *compare.Result, versions string) error {
	var b bytes.Buffer
	p := r.Plan
	fmt.Fprintf(&b, "Lab %s, TTL %s, %s, %s a cell from seed %d\n%s\n\n",
		r.Lab, p.TTL, plural(p.Candidates, "candidate"), runsEach(p), p.Seed, versions)
	g := grid{groups: groups}
	for _, c := range r.Cells {
		g.rows = append(g.rows, cells(c))
	}
	titles, names := g.head()
	fmt.Fprintf(&b, "%s\n%s\n", titles, names)
	last, store := "", false
	for i, c := range r.Cells {
		if f := known(p, c.Fault); c.Fault != last {
			if f.Store && !store {
				b.WriteString(aboutStore)
			}
			fmt.Fprintf(&b, "%s: %s\n", c.Fault, f.About)
			last, store = c.Fault, f.Store
		}
		fmt.Fprintf(&b, "%s\n", g.line(g.rows[i]))
	}
	fmt.Fprintf(&b, "\n%s", legend)
	_, err := w.Write(b.Bytes())
	return err
}

// aboutStore stands before faults that strike masters.
const aboutStore = `Faults of the store strike one master while the leader lives. In a quorum, in 3 of 4 runs, the
leader was cut off from others before, so that it holds a bare majority, of which that one is part.
`

// legend says what the columns mean; package measure defines them.
const legend = `failover   from the fault to the start of the next term, in runs that had one
overshoot  failover less the time that the lease still had: what the elector, or a guard, adds
nobody     nobody's term was valid; a crashed leader's counts until its deadline
kept       runs in which the leader outlived the fault
belief     two candidates' terms were valid at once: in how many runs, and there for how long;
           "0 of n <= x": with 95 % confidence in no more than that share of all runs
acts       for how long after a term began an earlier leader's acts still arrived
stale      those acts, which a resource without a fence takes; fence: how many one with a fence took
`

// known is the fault or schedule of that name in a plan, which may be of another
// version.
func known(p compare.Plan, name string) fault.Fault {
	for _, s := range p.Schedules {
		if s.Name == name {
			return s.Fault()
		}
	}
	f, err := fault.ByName(name)
	if err != nil {
		return fault.Fault{Name: name, About: "a fault unknown to this version"}
	}
	return f
}

// guarded reports whether a cell was played with guards.
func guarded(c measure.Cell) bool { return c.Guards != history.GuardsOff }

// name is a cell's mode as flags write it.
func name(c measure.Cell) string { return compare.Mode{Kind: c.Mode, Masters: c.Masters}.String() }

// cells are the texts of a row.
func cells(c measure.Cell) []string {
	row := []string{name(c), c.Guards}
	row = append(row, quantiles(c.Failover, c.Failover.P50, c.Failover.P90)...)
	row = append(row, quantiles(c.Overshoot, c.Overshoot.P90)...)
	row = append(row, ms(c.Leaderless.P50), share(c.Kept, c.Runs))
	row = append(row, overlap(c.BeliefWindow, c.Runs)...)
	row = append(row, quantiles(c.ActWindow, c.ActWindow.Max)...)
	if c.StaleAttempted == 0 {
		return append(row, "-", "-")
	}
	return append(row, strconv.Itoa(c.StaleAttempted), strconv.Itoa(c.StaleAcceptedFenced))
}

// quantiles writes values of q, if it has any.
func quantiles(q measure.Quantiles, values ...float64) []string {
	var out []string
	for _, v := range values {
		if q.N == 0 {
			out = append(out, "-")
			continue
		}
		out = append(out, ms(v))
	}
	return out
}

// overlap writes in how many runs there was one and how long it was, or how seldom
// it is at most if there was none.
func overlap(window measure.Quantiles, runs int) []string {
	if window.N == 0 {
		return []string{outOf(0, runs), "<=", tightPercent(measure.UpperBound(runs))}
	}
	return []string{fmt.Sprintf("%d of %d", window.N, runs), ms(window.P50), ms(window.Max)}
}
