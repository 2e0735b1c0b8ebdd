package report

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/measure"
)

// A chart is a picture with what it rests on.
type chart struct {
	ID, Title string
	About     string
	Picture   template.HTML
	Caption   string
	Again     string   // the command that plays it again
	Lines     []string // figures, a line each
}

// cdfHeight is how tall a curve's plot is, in pixels.
const cdfHeight = 120

// cdfs are the distributions of failover, a chart for each fault that a successor
// followed, with guards on where they were played.
func cdfs(r *compare.Result) (list []chart) {
	for _, f := range faultNames(r) {
		var cells []measure.Cell
		longest := 0.0
		for _, m := range r.Plan.Modes {
			if c, ok := find(cellsOf(r, m), f); ok {
				cells = append(cells, c)
				longest = max(longest, c.Failover.Max)
			}
		}
		if longest > 0 {
			list = append(list, cdf(r, f, cells, longest))
		}
	}
	return list
}

// faultNames are those of the faults and schedules that were played, in the order of
// the plan.
func faultNames(r *compare.Result) (names []string) {
	for _, c := range r.Cells {
		if len(names) == 0 || names[len(names)-1] != c.Fault {
			names = append(names, c.Fault)
		}
	}
	return names
}

// cellsOf are the cells of a mode.
func cellsOf(r *compare.Result, m compare.Mode) (cells []measure.Cell) {
	for _, c := range r.Cells {
		if name(c) == m.String() {
			cells = append(cells, c)
		}
	}
	return cells
}

// cdf draws, over time, in which share of all runs there was a successor by then. A
// curve that stays below 100 % is of runs in which none came, or none was needed.
func cdf(r *compare.Result, fault string, cells []measure.Cell, longest float64) chart {
	s := scale{hi: roundUp(longest), width: 1, unit: "ms"}
	const top = 14
	id := "cdf-" + identifier(fault)
	var captions []string
	p := newPicture(id, top+cdfHeight+axisRow, "Failover under "+fault, "Share of runs with a successor, over milliseconds since the fault; the figures are below.")
	for _, share := range []int{100, 50, 0} {
		y := top + cdfHeight*(100-share)/100
		if share > 0 {
			p.level("grid", 0, 1, y)
			p.text("dim", "start", 0, y-2, fmt.Sprintf("%d %%", share))
		}
	}
	for _, c := range cells {
		p.stretched("line "+modeClass(r, name(c)), steps(s, c.Samples.Failover, c.Runs), top, cdfHeight)
		captions = append(captions, cdfWords(c))
	}
	p.axis(s, 4, top+cdfHeight, axisMillis)
	return chart{ID: id, Title: fault, About: known(r.Plan, fault).About, Picture: p.end(), Lines: captions}
}

// cdfWords are the figures of a curve.
func cdfWords(c measure.Cell) string {
	s := name(c)
	if !guarded(c) {
		s += ", guards off"
	}
	if c.Failover.N == 0 {
		return fmt.Sprintf("%s: no successor in %s", s, times(c.Runs, "run"))
	}
	s += fmt.Sprintf(": p50 %s", number(c.Failover.P50))
	if i := medianInterval(c.Samples.Failover); i.bounded() {
		s += fmt.Sprintf(" (%s to %s)", number(i.lo), number(i.hi))
	}
	s += fmt.Sprintf(", max %s, n %s", millis(c.Failover.Max), grouped(c.Failover.N))
	if c.Failover.N < c.Runs {
		s += " of " + grouped(c.Runs)
	}
	return s
}

// steps is the path of a step curve in a plot of cdfHeight: ascending samples out of
// runs. Steps that fall on one place across are one.
func steps(s scale, samples []time.Duration, runs int) string {
	if len(samples) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M0 %d", cdfHeight)
	last := -1
	for i, d := range samples {
		x := int(fine * s.at(milliseconds(d)))
		if i+1 < len(samples) && int(fine*s.at(milliseconds(samples[i+1]))) == x || x == last {
			continue
		}
		last = x
		fmt.Fprintf(&b, "H%dV%.1f", x, cdfHeight*(1-float64(i+1)/float64(runs)))
	}
	fmt.Fprintf(&b, "H%d", fine)
	return b.String()
}

// roundUp is a round value not below v, for the end of an axis.
func roundUp(v float64) float64 {
	step := roundStep(v / 4)
	n := int(v/step + 1 - 1e-9)
	return step * float64(n)
}

// identifier is text as part of an id: letters, digits and hyphens.
func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// modeClass is the class that a mode is drawn in: the plan's first mode has one, and so
// on.
func modeClass(r *compare.Result, mode string) string {
	for i, m := range r.Plan.Modes {
		if m.String() == mode {
			return fmt.Sprintf("m%d", i%5)
		}
	}
	return "m0"
}
