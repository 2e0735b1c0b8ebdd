package report

import (
	"fmt"
	"time"

	"incumbent/compare"
	"incumbent/compare/measure"
)

// A fullTable has all figures of all cells.
type fullTable struct {
	Columns []string
	Rows    [][]string
}

// newFullTable makes it.
func newFullTable(r *compare.Result) fullTable {
	t := fullTable{Columns: []string{
		"fault", "mode", "guards", "runs", "leader kept",
		"failover n", "p50", "p90", "p99", "max",
		"overshoot p50", "p90", "max",
		"store outage p50 / max (n)", "election after it",
		"leaderless p50", "max",
		"belief overlap, runs", "max", "acts overlap, runs", "max",
		"stale acts", "taken, no fence", "taken, fence",
		"commands/s leader", "standby",
	}}
	for _, c := range r.Cells {
		t.Rows = append(t.Rows, fullRow(c))
	}
	return t
}

func fullRow(c measure.Cell) []string {
	row := []string{c.Fault, name(c), c.Guards, grouped(c.Runs), grouped(c.Kept), grouped(c.Failover.N)}
	row = append(row, withInterval(c.Failover, c.Samples.Failover))
	row = append(row, numbers(c.Failover, c.Failover.P90, c.Failover.P99, c.Failover.Max)...)
	row = append(row, withInterval(c.Overshoot, c.Samples.Overshoot))
	row = append(row, numbers(c.Overshoot, c.Overshoot.P90, c.Overshoot.Max)...)
	row = append(row, pair(c.Outage), pair(c.Election))
	row = append(row, withInterval(c.Leaderless, c.Samples.Leaderless))
	row = append(row, numbers(c.Leaderless, c.Leaderless.Max)...)
	for _, q := range []measure.Quantiles{c.BeliefWindow, c.ActWindow} {
		row = append(row, windowRuns(q.N, c.Runs))
		row = append(row, numbers(q, q.Max)...)
	}
	row = append(row, staleCells(c)...)
	if c.Load == nil {
		return append(row, "-", "-")
	}
	return append(row, perSecond(c.Load.Leader), perSecond(c.Load.Standby))
}

// staleCells: a count of none is of so many runs.
func staleCells(c measure.Cell) []string {
	if c.StaleAttempted == 0 {
		return []string{"0 in " + times(c.Runs, "run"), "-", "-"}
	}
	return []string{grouped(c.StaleAttempted), ofAll(c.StaleAcceptedUnfenced, c.StaleAttempted), ofAll(c.StaleAcceptedFenced, c.StaleAttempted)}
}

// pair is the median of q, its largest value, and of how many runs they are.
func pair(q measure.Quantiles) string {
	if q.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%s / %s (%s)", number(q.P50), number(q.Max), grouped(q.N))
}

// numbers writes values of q, if it has any.
func numbers(q measure.Quantiles, values ...float64) (list []string) {
	for _, v := range values {
		if q.N == 0 {
			list = append(list, "-")
			continue
		}
		list = append(list, number(v))
	}
	return list
}

// withInterval is a median and its interval.
func withInterval(q measure.Quantiles, samples []time.Duration) string {
	if q.N == 0 {
		return "-"
	}
	if i := medianInterval(samples); i.bounded() {
		return fmt.Sprintf("%s [%s to %s]", number(q.P50), number(i.lo), number(i.hi))
	}
	return number(q.P50)
}

// windowRuns says in how many of n runs something showed; none with its bound.
func windowRuns(k, n int) string {
	if k == 0 {
		return fmt.Sprintf("0 of %s (≤ %s)", grouped(n), percent(measure.UpperBound(n)))
	}
	i := shareInterval(k, n)
	return fmt.Sprintf("%s of %s (%s to %s)", grouped(k), grouped(n), percent(i.lo), percent(i.hi))
}
