package report

import (
	"fmt"
	"time"

	"incumbent/compare"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// A heat is the table of dangers: a row a fault, four columns a mode.
type heat struct {
	Modes []string
	Rows  []heatRow
	Note  string
}

type heatRow struct {
	Fault string
	Cells []heatCell
}

// A heatCell is a figure with a shade that says how long it is against the TTL.
type heatCell struct {
	Value, Note string
	Class       string
	Edge        bool // it is the first of its group
}

// leaderlessNote explains what looks wrong at first.
const leaderlessNote = "A dead leader's term counts as valid until its deadline, so that crash shows a short time without a leader beside a long failover."

// newHeat makes the table; nil without any run.
func newHeat(r *compare.Result) *heat {
	if len(r.Cells) == 0 {
		return nil
	}
	h := &heat{Note: leaderlessNote}
	byKey := map[string]measure.Cell{}
	for _, c := range r.Cells {
		byKey[c.Fault+"/"+name(c)+"/"+c.Guards] = c
	}
	for _, m := range r.Plan.Modes {
		h.Modes = append(h.Modes, m.String())
	}
	for _, f := range faultNames(r) {
		row := heatRow{Fault: f}
		for _, m := range h.Modes {
			on, off := byKey[f+"/"+m+"/"+history.GuardsOn], byKey[f+"/"+m+"/"+history.GuardsOff]
			row.Cells = append(row.Cells, actsCell(on, r.Plan.TTL, true), actsCell(off, r.Plan.TTL, false),
				leaderlessCell(on, r.Plan.TTL, true), leaderlessCell(off, r.Plan.TTL, false))
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}

// actsCell is the overlap of acts in a cell, which may not have been played.
func actsCell(c measure.Cell, ttl time.Duration, edge bool) heatCell {
	switch {
	case c.Runs == 0:
		return heatCell{Value: "-", Edge: edge}
	case c.ActWindow.N == 0:
		return heatCell{Value: "0 of " + grouped(c.Runs), Note: "≤ " + percent(measure.UpperBound(c.Runs)), Edge: edge}
	}
	out := heatCell{Value: number(c.ActWindow.Max), Note: fmt.Sprintf("%s of %s", grouped(c.ActWindow.N), grouped(c.Runs)),
		Class: shade(c.ActWindow.Max, ttl), Edge: edge}
	if c.Promise().Acts {
		out.Value, out.Class = "! "+out.Value, out.Class+" bad"
	}
	return out
}

// leaderlessCell is for how long nobody led in a cell.
func leaderlessCell(c measure.Cell, ttl time.Duration, edge bool) heatCell {
	if c.Runs == 0 {
		return heatCell{Value: "-", Edge: edge}
	}
	return heatCell{Value: number(c.Leaderless.P50) + " / " + number(c.Leaderless.Max), Note: "n " + grouped(c.Leaderless.N),
		Class: shade(c.Leaderless.Max, ttl), Edge: edge}
}

// shade is a class by how long something lasts against the TTL.
func shade(ms float64, ttl time.Duration) string {
	switch share := ms / milliseconds(ttl); {
	case ms <= 0:
		return ""
	case share < 0.1:
		return "h1"
	case share < 0.5:
		return "h2"
	case share < 1:
		return "h3"
	}
	return "h4"
}
