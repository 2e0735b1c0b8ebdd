package report

import (
	"fmt"
	"strings"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/measure"
)

// plotWidth is the part of a chart's width that its plot has, where figures stand
// beside it.
const plotWidth = 0.62

// Heights of a chart of ranges, in pixels.
const (
	rangeLabel = 17
	rangeRow   = 14
)

// overshoots are the charts of what comes on top of the floor: of faults of the leader,
// of those of the store that leases bear alone, and of the rest, with guards on.
func overshoots(r *compare.Result) (list []chart) {
	for _, group := range []struct {
		id, title string
		in        func(f fault.Fault) bool
	}{
		{"over-leader", "Faults of the leader", func(f fault.Fault) bool { return !f.Store }},
		{"over-store", "Faults of the store that leases alone bear", func(f fault.Fault) bool { return f.Store && f.Danger == fault.Harmless }},
		{"over-guards", "Other faults of the store; guards on", func(f fault.Fault) bool { return f.Store && f.Danger != fault.Harmless }},
	} {
		var rows [][]measure.Cell
		for _, name := range faultNames(r) {
			if !group.in(known(r.Plan, name)) {
				continue
			}
			if cells := followed(r, name); len(cells) > 0 {
				rows = append(rows, cells)
			}
		}
		if len(rows) > 0 {
			list = append(list, ranges(r, group.id, group.title, rows))
		}
	}
	return list
}

// followed are the cells of a fault with guards on, if a successor followed in any.
func followed(r *compare.Result, name string) (cells []measure.Cell) {
	some := false
	for _, c := range r.Cells {
		if c.Fault == name && guarded(c) {
			cells = append(cells, c)
			some = some || c.Overshoot.N > 0
		}
	}
	if !some {
		return nil
	}
	return cells
}

// ranges draws the overshoot of cells, those of one fault together: a line from the
// smallest to the largest, a mark at the median, a tick at p90.
func ranges(r *compare.Result, id, title string, rows [][]measure.Cell) chart {
	s := scale{width: plotWidth, unit: "ms", log: true}
	height := 4
	for _, cells := range rows {
		height += rangeLabel + rangeRow*len(cells)
		for _, c := range cells {
			s.lo, s.hi = min(s.lo, smallest(c)), max(s.hi, c.Overshoot.Max)
		}
	}
	s.lo, s.hi = min(s.lo*2, -1), max(s.hi*2, 1)
	p := newPicture(id, height+axisRow, "Overshoot: "+title, "Milliseconds from when the lease was free until the next term began, by fault and mode: p50, p90, max.")
	y := 4
	for _, cells := range rows {
		p.text("ink", "start", 0, y+12, clip(cells[0].Fault, longestName))
		p.text("dim", "end", 1, y+12, "n "+sizes(cells))
		y += rangeLabel
		p.rule("floor", s.at(0), y, y+rangeRow*len(cells))
		for _, c := range cells {
			p.rangeOf(s, c, modeClass(r, name(c)), y+rangeRow/2)
			y += rangeRow
		}
	}
	p.marks(s, s.powers(), height, axisMillis)
	return chart{ID: id, Title: title, Picture: p.end()}
}

// rangeOf draws one cell's overshoot around y.
func (p *picture) rangeOf(s scale, c measure.Cell, class string, y int) {
	if c.Overshoot.N == 0 {
		p.text("dim", "end", 1, y+4, "no successor")
		return
	}
	p.level("reach "+class, s.at(smallest(c)), s.at(c.Overshoot.Max), y)
	p.rule("reach "+class, s.at(c.Overshoot.P90), y-4, y+4)
	p.rule("reach "+class, s.at(c.Overshoot.Max), y-2, y+2)
	p.mark("mark-"+class, class, s.at(c.Overshoot.P50), y)
	p.text("dim", "end", 1, y+4, fmt.Sprintf("%s / %s / %s", number(c.Overshoot.P50), number(c.Overshoot.P90), number(c.Overshoot.Max)))
}

// smallest is the smallest overshoot of a cell that has one.
func smallest(c measure.Cell) float64 {
	if len(c.Samples.Overshoot) == 0 {
		return c.Overshoot.P50
	}
	return milliseconds(c.Samples.Overshoot[0])
}

// sizes lists the number of runs of cells that a successor followed in; once where all
// have the same.
func sizes(cells []measure.Cell) string {
	var list []string
	same := true
	for _, c := range cells {
		list = append(list, grouped(c.Overshoot.N))
		same = same && list[len(list)-1] == list[0]
	}
	if same {
		return list[0]
	}
	return strings.Join(list, ", ")
}

// costCells are the cells in which the cost of modes was measured.
func costCells(r *compare.Result) (cells []measure.Cell) {
	for _, m := range r.Plan.Modes {
		if c, ok := find(cellsOf(r, m), calmFault); ok && c.Load != nil {
			cells = append(cells, c)
		}
	}
	return cells
}

// costRows are their figures.
func costRows(r *compare.Result) (rows [][]string) {
	for _, c := range costCells(r) {
		rows = append(rows, []string{name(c), grouped(c.Masters), perSecond(c.Load.Leader), perSecond(c.Load.Standby)})
	}
	return rows
}

// costs draws what modes ask of their servers while nothing is wrong; false where
// that was not measured.
func costs(r *compare.Result) (chart, bool) {
	cells := costCells(r)
	if len(cells) == 0 {
		return chart{}, false
	}
	most, runs := 1e-3, 0
	for _, c := range cells {
		most, runs = max(most, c.Load.Leader, c.Load.Standby), max(runs, c.Runs)
	}
	const row = rangeLabel + 2*rangeRow + 4
	s := scale{hi: roundUp(most), width: plotWidth, unit: "/s"}
	height := len(cells) * row
	p := newPicture("cost", height+axisRow, "Commands a second", "What a leader and each standby send to all servers together.")
	for i, c := range cells {
		p.costOf(s, c, modeClass(r, name(c)), i*row)
	}
	p.axis(s, 4, height, axisMillis)
	return chart{ID: "cost", Title: "Commands a second, to all servers together", Picture: p.end(),
		Caption: fmt.Sprintf("Fault calm: nothing happens. n %s a mode; a mean over all of their time. Commands inside scripts are not counted.", grouped(runs))}, true
}

// costOf draws one mode's two bars below y.
func (p *picture) costOf(s scale, c measure.Cell, class string, y int) {
	p.text("ink", "start", 0, y+13, fmt.Sprintf("%s, %s", name(c), times(c.Masters, "server")))
	for i, v := range []struct {
		what string
		load float64
	}{{"leader", c.Load.Leader}, {"each standby", c.Load.Standby}} {
		at := y + rangeLabel + i*rangeRow
		p.bar(fmt.Sprintf("cost%d %s", i, class), 0, s.at(v.load), at+1, rangeRow-4)
		p.text("dim", "start", s.at(v.load)+0.008, at+rangeRow-3, v.what+" "+perSecond(v.load)+" /s")
	}
}
