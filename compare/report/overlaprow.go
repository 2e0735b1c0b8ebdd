package report

import (
	"fmt"

	"incumbent/compare/measure"
)

// overlaps sums up the acts of past leaders in some cells.
type overlaps struct {
	runs, with int
	longest    float64
	fault      string // of the longest
}

// overlapsOf sums up the cells of faults that guards are for, with or without them, and
// in which no leader is stopped between its check and its act, which no guard helps
// against.
func overlapsOf(cells []measure.Cell, guards bool) (o overlaps) {
	for _, c := range cells {
		if !closes(c) || stalls(c) || guarded(c) != guards {
			continue
		}
		o.runs += c.Runs
		o.with += c.ActWindow.N
		if c.ActWindow.Max > o.longest {
			o.longest, o.fault = c.ActWindow.Max, c.Fault
		}
	}
	return o
}

// overlapRow has both settings of the guards in one figure.
func overlapRow(cells []measure.Cell) figure {
	on, off := overlapsOf(cells, true), overlapsOf(cells, false)
	if on.runs+off.runs == 0 {
		return figure{Value: "not measured", Note: "no fault that guards are for was played", Class: noFigure, Terse: []string{"not measured"}}
	}
	f := figure{
		Value: on.value() + " / " + off.value(),
		Note:  "on: " + on.note() + "; off: " + off.note(),
		Terse: []string{on.terse(), off.terse()},
	}
	if on.with > 0 {
		f.Class = badFigure
	}
	return f
}

func (o overlaps) value() string {
	switch {
	case o.runs == 0:
		return "not played"
	case o.with == 0:
		return "0 of " + grouped(o.runs)
	}
	return millis(o.longest)
}

func (o overlaps) note() string {
	switch {
	case o.runs == 0:
		return "not played"
	case o.with == 0:
		return "95 % upper bound " + perCent(measure.UpperBound(o.runs))
	}
	return fmt.Sprintf("in %s of %s runs, worst %s", grouped(o.with), grouped(o.runs), o.fault)
}

// terse fits into 20 characters.
func (o overlaps) terse() string {
	switch {
	case o.runs == 0:
		return "not played"
	case o.with == 0:
		return fmt.Sprintf("0 of %s <=%s", short(o.runs), percent(measure.UpperBound(o.runs)))
	}
	return fmt.Sprintf("%s %s of %s", millis(o.longest), percent(float64(o.with)/float64(o.runs)), short(o.runs))
}

// stales sums up the acts of past leaders in cells. A run is what is independent of
// others, not an act: bounds are of runs.
type stales struct {
	attempted, unfenced, fenced int
	runs, with                  int
}

func stalesOf(cells []measure.Cell) (s stales) {
	for _, c := range cells {
		s.attempted += c.StaleAttempted
		s.unfenced += c.StaleAcceptedUnfenced
		s.fenced += c.StaleAcceptedFenced
		s.runs += c.Runs
		s.with += c.ActWindow.N
	}
	return s
}

// staleRow is what resources did with acts of the past, under all faults.
func staleRow(cells []measure.Cell) figure {
	s := stalesOf(cells)
	switch {
	case s.runs == 0:
		return missing("not measured")
	case s.attempted == 0:
		return figure{Value: "none attempted", Note: "in " + none(s.runs), Terse: []string{"0 in " + grouped(s.runs) + " runs"}}
	}
	f := figure{
		Value: fmt.Sprintf("%s / %s / %s", grouped(s.attempted), grouped(s.unfenced), ofAll(s.fenced, s.attempted)),
		Note:  fmt.Sprintf("in %s of %s runs; fence: at most %s", grouped(s.with), grouped(s.runs), perCent(measure.UpperBound(s.with))),
		Terse: []string{grouped(s.attempted), fmt.Sprintf("%s/0 <=%s", short(s.unfenced), percent(measure.UpperBound(s.with)))},
	}
	if s.fenced > 0 {
		f.Class = badFigure
		f.Note = fmt.Sprintf("in %s of %s runs; THE FENCE TOOK %s", grouped(s.with), grouped(s.runs), grouped(s.fenced))
		f.Terse[1] = fmt.Sprintf("%s/%s TAKEN", short(s.unfenced), short(s.fenced))
	}
	return f
}
