package report

import (
	"fmt"
	"slices"
	"strings"

	"incumbent/compare"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
)

// A screen is what every form of a report begins with.
type screen struct {
	// Alarms say what forbids to rely on the rest; none if all is well.
	Alarms []string
	// Verdict is two sentences.
	Verdict []string
	// Caption says under what all figures were measured.
	Caption string
	// Guards says with which guards, where a row does not.
	Guards string
	Modes  []string
	Rows   []row
	// Hint says what else may be asked for; "" if there is nothing.
	Hint string
	// Next is the command to go on with, Step what to do instead where none helps.
	Next, Step string
}

// A row is one quantity in all modes.
type row struct {
	Label, About string
	Figures      []figure
	// Terse is the label on a terminal, a line each.
	Terse []string
}

// A figure is a quantity in one mode: its value, and what that rests on.
type figure struct {
	Value, Note string
	Class       class
	// Terse is the same on a terminal, a line for each of the row's.
	Terse []string
}

// A class says how to look at a figure. It never says more than its words do.
type class string

const (
	plainFigure class = ""
	goodFigure  class = "good"
	badFigure   class = "bad"
	noFigure    class = "none" // it was not measured
)

// newScreen sums up a report.
func newScreen(rep Report) screen {
	s := screen{Alarms: alarms(rep.Result), Verdict: conclusion(rep), Caption: caption(rep.Result), Hint: hint(rep), Next: rep.Next, Guards: "guards on, unless said"}
	if rep.Decision != nil && rep.Decision.Elsewhere.Step() != "" {
		s.Next, s.Step = "", rep.Decision.Elsewhere.Step()
	}
	if offOnly(rep.Result.Plan) {
		s.Guards = "guards off"
	}
	by := map[string][]measure.Cell{}
	for _, c := range rep.Result.Cells {
		by[name(c)] = append(by[name(c)], c)
	}
	for _, m := range rep.Result.Plan.Modes {
		s.Modes = append(s.Modes, m.String())
	}
	for _, r := range rows(rep) {
		out := row{Label: r.label, About: r.about, Terse: r.terse}
		for _, m := range rep.Result.Plan.Modes {
			f := r.of(m, by[m.String()])
			for len(f.Terse) < len(r.terse) {
				f.Terse = append(f.Terse, "")
			}
			out.Figures = append(out.Figures, f)
		}
		s.Rows = append(s.Rows, out)
	}
	return s
}

// complete reports whether all of the plan was played.
func complete(r *compare.Result) bool {
	return !r.Interrupted && !r.GaveUp && len(r.Failed) == 0
}

// alarms are what comes before all else.
func alarms(r *compare.Result) []string {
	var list []string
	if n := len(r.Broken); n > 0 {
		list = append(list, fmt.Sprintf("RULES BROKEN: %s in %s (%s). Rely on no figure below until that is explained.",
			times(n, "violation"), times(brokenRuns(r), "run"), strings.Join(brokenRules(r), "; ")))
	}
	total := r.Plan.Total()
	switch {
	case r.GaveUp:
		list = append(list, fmt.Sprintf("INCOMPLETE: gave up since %s could not be played; %s of %s were.",
			times(len(r.Failed), "run"), grouped(r.Runs), grouped(total)))
	case r.Interrupted:
		list = append(list, fmt.Sprintf("INCOMPLETE: interrupted when %s of %s runs were played.", grouped(r.Runs), grouped(total)))
	case len(r.Failed) > 0:
		list = append(list, fmt.Sprintf("INCOMPLETE: %s of %s could not be played.", times(len(r.Failed), "run"), grouped(total)))
	}
	return list
}

func brokenRuns(r *compare.Result) int {
	seen := map[compare.Job]bool{}
	for _, b := range r.Broken {
		seen[b.Job] = true
	}
	return len(seen)
}

// brokenRules lists them in the order in which they were found.
func brokenRules(r *compare.Result) (rules []string) {
	for _, b := range r.Broken {
		if !slices.Contains(rules, b.Violation.Rule) {
			rules = append(rules, b.Violation.Rule)
		}
	}
	return rules
}

// labWords says what a lab's figures are worth.
func labWords(lab string) string {
	if lab == history.Virtual {
		return "virtual lab (simulated, not your network)"
	}
	return lab + " lab"
}

// caption says under what all was measured.
func caption(r *compare.Result) string {
	p, upTo := r.Plan, ""
	if !complete(r) {
		upTo = "up to "
	}
	return fmt.Sprintf("%s, TTL %s, %s%s, %s%s a cell, %s; 95 %% intervals",
		labWords(r.Lab), duration(p.TTL), times(p.Candidates, "candidate"), conditions(p), upTo, runsEach(p), seeds(p))
}

// conditions are what was not as usual, each after a comma.
func conditions(p compare.Plan) string {
	s := virtual.Conditions{Renew: p.Renew, Link: p.Link, Loss: p.Loss, Drift: p.Drift}.String()
	if offOnly(p) {
		s += ", guards off"
	}
	var names []string
	for _, schedule := range p.Schedules {
		names = append(names, schedule.Name)
	}
	switch n := len(names); {
	case n == 1:
		s += ", schedule " + names[0]
	case n > 1:
		s += ", schedules " + list(names)
	}
	return s
}

// offOnly reports whether guards of the store are off in all of a plan.
func offOnly(p compare.Plan) bool {
	return len(p.Guards) > 0 && !slices.Contains(p.Guards, history.GuardsOn)
}

// seeds names those of a plan.
func seeds(p compare.Plan) string {
	most := p.MostRuns()
	if most <= 1 {
		return fmt.Sprintf("seed %d", p.Seed)
	}
	return fmt.Sprintf("seeds %d to %d", p.Seed, p.Seed+uint64(most)-1)
}

// runsEach is how many runs a cell has, or from how many to how many.
func runsEach(p compare.Plan) string {
	least, most := p.LeastRuns(), p.MostRuns()
	if least == most {
		return times(most, "run")
	}
	return fmt.Sprintf("%s to %s", grouped(least), times(most, "run"))
}

// times is plural with grouped numbers.
func times(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// none says that of n runs none showed something, and how many may all the same.
func none(n int) string {
	return fmt.Sprintf("0 of %s (95 %% upper bound %s)", times(n, "run"), percent(measure.UpperBound(n)))
}

// some says in how many of n runs something showed, and the interval of that share.
func some(k, n int) string {
	if k == 0 {
		return none(n)
	}
	i := shareInterval(k, n)
	return fmt.Sprintf("%s of %s (95 %% interval %s to %s)", grouped(k), times(n, "run"), percent(i.lo), percent(i.hi))
}
