package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/measure"
)

// groups are the columns of the table: at most 100 characters wide together with
// fewer than a thousand runs a cell.
var groups = []group{
	{"", []string{"mode", "runs"}},
	{"failover, ms", []string{"p50", "p90", "max"}},
	{"overshoot", []string{"p50", "p90"}},
	{"no lease", []string{"p50"}},
	{"overlap max, ms", []string{"belief", "act"}},
	{"stale acts, and taken", []string{"sent", "no fence", "fence"}},
}

// Table writes the table of r, a row for each fault and mode. versions says with
// what it was measured.
func Table(w io.Writer, r *compare.Result, versions string) error {
	var b bytes.Buffer
	p := r.Plan
	fmt.Fprintf(&b, "Lab %s, TTL %s, %s, %s a cell from seed %d\n%s\n\n",
		r.Lab, p.TTL, plural(p.Candidates, "candidate"), plural(p.Runs, "run"), p.Seed, versions)
	g := grid{groups: groups}
	for _, c := range r.Cells {
		g.rows = append(g.rows, cells(c))
	}
	titles, names := g.head()
	fmt.Fprintf(&b, "%s\n%s\n", titles, names)
	last := ""
	for i, c := range r.Cells {
		if c.Fault != last {
			fmt.Fprintf(&b, "%s: %s\n", c.Fault, about(c.Fault))
			last = c.Fault
		}
		fmt.Fprintf(&b, "%s\n", g.line(g.rows[i]))
	}
	for _, c := range r.Cells {
		if n := c.Runs - c.Failover.N; n > 0 {
			fmt.Fprintf(&b, "%s, %s: %d of %d runs had no successor and are not in its failover\n", c.Fault, name(c), n, c.Runs)
		}
	}
	fmt.Fprintf(&b, "\n%s", legend)
	_, err := w.Write(b.Bytes())
	return err
}

// legend says what the columns mean; package measure defines them.
const legend = `failover   from the fault to the start of the next term
overshoot  failover less the time that the lease still had: what the elector adds
no lease   nobody's term was valid; a crashed leader's counts until its deadline
belief     two candidates' terms were valid at once; act: an earlier leader's acts still arrived
sent       acts of an earlier leader after the next term began, and how many of them a resource
           without and with a fence took
Every fault here strikes the leader. Masters that fail, which is what quorum is for, are not
played yet: read these rows for what quorum costs, not for what it saves.
`

func about(name string) string {
	f, err := fault.ByName(name)
	if err != nil {
		return "a fault unknown to this version"
	}
	return f.About
}

// name is a cell's mode as flags write it.
func name(c measure.Cell) string { return compare.Mode{Kind: c.Mode, Masters: c.Masters}.String() }

// cells are the texts of a row.
func cells(c measure.Cell) []string {
	row := []string{name(c), strconv.Itoa(c.Runs)}
	row = append(row, quantiles(c.Failover, c.Failover.P50, c.Failover.P90, c.Failover.Max)...)
	row = append(row, quantiles(c.Overshoot, c.Overshoot.P50, c.Overshoot.P90)...)
	row = append(row, ms(c.Leaderless.P50), longest(c.BeliefOverlap), longest(c.ActOverlap), outOf(c.StaleAttempted, c.Runs))
	if c.StaleAttempted == 0 {
		return append(row, "-", "-")
	}
	return append(row, outOf(c.StaleAcceptedUnfenced, c.StaleAttempted), outOf(c.StaleAcceptedFenced, c.StaleAttempted))
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

// longest writes the longest overlap; that there was none in so many runs if so.
func longest(q measure.Quantiles) string {
	if q.Max == 0 {
		return outOf(0, q.N)
	}
	return ms(q.Max)
}
