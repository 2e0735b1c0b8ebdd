package report

import (
	"fmt"
	"slices"

	"incumbent/compare"
	"incumbent/compare/fault"
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
		o.add(c)
	}
	return o
}

// add counts a cell.
func (o *overlaps) add(c measure.Cell) {
	o.runs += c.Runs
	o.with += c.ActWindow.N
	if c.ActWindow.Max > o.longest {
		o.longest, o.fault = c.ActWindow.Max, c.Fault
	}
}

// beyond sums up the cells, with guards on, of faults that no guard closes.
func beyond(p compare.Plan, cells []measure.Cell) (o overlaps) {
	for _, c := range cells {
		if guarded(c) && known(p, c.Fault).Danger == fault.Remaining {
			o.add(c)
		}
	}
	return o
}

// beyondRow is what two leaders do in spite of guards.
func beyondRow(p compare.Plan, cells []measure.Cell) figure {
	o := beyond(p, cells)
	if o.runs == 0 {
		return figure{Value: "not measured", Note: "no such fault was played with guards on", Class: noFigure, Terse: []string{"not measured"}}
	}
	f := figure{Value: o.value(), Note: o.note(), Terse: []string{o.terse()}}
	if o.with > 0 {
		f.Class = badFigure
	}
	return f
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
		return "95 % upper bound " + percent(measure.UpperBound(o.runs)) + " of runs"
	}
	return fmt.Sprintf("in %s of %s runs, worst %s", grouped(o.with), grouped(o.runs), o.fault)
}

// terse fits into 20 characters.
func (o overlaps) terse() string {
	switch {
	case o.runs == 0:
		return "not played"
	case o.with == 0:
		return fmt.Sprintf("0 of %s <=%s", short(o.runs), tightPercent(measure.UpperBound(o.runs)))
	}
	if o.with == o.runs {
		return fmt.Sprintf("%s all of %s", millis(o.longest), short(o.runs))
	}
	return fmt.Sprintf("%s %s of %s", millis(o.longest), tightPercent(float64(o.with)/float64(o.runs)), short(o.runs))
}

// stales sums up the acts of past leaders in cells. A run is what is independent of
// others, not an act: bounds are of runs.
type stales struct {
	attempted, unfenced, fenced int
	runs, with                  int
	on, off                     bool // guards, in what is summed up
}

// where says with which guards, where that is not to be seen.
func (s stales) where() string {
	switch {
	case s.on && s.off:
		return " (guards on and off)"
	case s.off:
		return " (guards off)"
	}
	return ""
}

func stalesOf(cells []measure.Cell) (s stales) {
	for _, c := range cells {
		s.attempted += c.StaleAttempted
		s.unfenced += c.StaleAcceptedUnfenced
		s.fenced += c.StaleAcceptedFenced
		s.runs += c.Runs
		s.with += c.ActWindow.N
		s.on, s.off = s.on || guarded(c), s.off || !guarded(c)
	}
	return s
}

// staleRow is what resources did with acts of the past, under all faults. It is of
// guards on, unless there were none.
func staleRow(cells []measure.Cell) figure {
	if withGuards(cells) {
		cells = slices.DeleteFunc(slices.Clone(cells), func(c measure.Cell) bool { return !guarded(c) })
	}
	s := stalesOf(cells)
	switch {
	case s.runs == 0:
		return missing("not measured")
	case s.attempted == 0:
		return figure{Value: "none attempted", Note: "in " + none(s.runs), Terse: []string{"0 in " + grouped(s.runs) + " runs"}}
	}
	f := figure{
		Value: fmt.Sprintf("%s / %s / %s", grouped(s.attempted), grouped(s.unfenced), ofAll(s.fenced, s.attempted)),
		Note:  fmt.Sprintf("in %s of %s runs; fence: at most %s of them", grouped(s.with), grouped(s.runs), percent(measure.UpperBound(s.with))),
		Terse: []string{grouped(s.attempted), fmt.Sprintf("%s/0 <=%s", short(s.unfenced), tightPercent(measure.UpperBound(s.with)))},
	}
	if s.fenced > 0 {
		f.Class = badFigure
		f.Note = fmt.Sprintf("in %s of %s runs; THE FENCE TOOK %s", grouped(s.with), grouped(s.runs), grouped(s.fenced))
		f.Terse[1] = fmt.Sprintf("%s/%s TAKEN", short(s.unfenced), short(s.fenced))
	}
	return f
}
