package report

import (
	"fmt"
	"strings"

	"incumbent/compare"
)

// faultRuns are the worst runs of the cells of one fault.
type faultRuns struct {
	Title, About string
	Charts       []chart
}

// worstPause is the timeline of the pause between a check and a write that went worst;
// nil where none was played.
func worstPause(r *compare.Result) *chart {
	i := worstPauseOf(r)
	if i < 0 {
		return nil
	}
	c := timelineOf(r, r.Worst[i], "worst-pause")
	c.Title = "The worst pause: " + c.Title
	return &c
}

// worstPauseOf is the index of that run in r.Worst, or -1.
func worstPauseOf(r *compare.Result) int {
	worst := -1
	for i, e := range r.Worst {
		if e.Job.Fault == pauseFault && len(e.Run.Events) > 0 && (worst < 0 || e.Figures.ActOverlap > r.Worst[worst].Figures.ActOverlap) {
			worst = i
		}
	}
	return worst
}

// worstRuns are the timelines of all cells' worst runs.
func worstRuns(r *compare.Result) (list []faultRuns) {
	for i, e := range r.Worst {
		if len(e.Run.Events) == 0 {
			continue
		}
		if len(list) == 0 || list[len(list)-1].Title != e.Job.Fault {
			list = append(list, faultRuns{Title: e.Job.Fault, About: known(r.Plan, e.Job.Fault).About})
		}
		last := &list[len(list)-1]
		last.Charts = append(last.Charts, timelineOf(r, e, fmt.Sprintf("run-%d", i)))
	}
	return list
}

// timelineOf draws a run and says what it was.
func timelineOf(r *compare.Result, e compare.Example, id string) chart {
	mode := compare.Mode{Kind: e.Job.Mode, Masters: e.Job.Masters}
	title := fmt.Sprintf("%s, %s, guards %s, seed %d", e.Job.Fault, mode, e.Job.Guards, e.Job.Seed)
	return chart{
		ID: id, Title: title, Picture: newTimeline(e.Run).picture(id, title),
		Caption: fmt.Sprintf("%s One of %s. %s", exampleWords(e), times(runsOf(r, e), "run"), under(r)),
		Again:   e.Job.Command(r.Lab),
	}
}

// runsOf is how many runs the cell of an example has.
func runsOf(r *compare.Result, e compare.Example) int {
	for _, c := range r.Cells {
		if c.Fault == e.Job.Fault && c.Guards == e.Job.Guards && c.Mode == e.Job.Mode && c.Masters == e.Job.Masters {
			return c.Runs
		}
	}
	return 1
}

// exampleWords are the figures of a run.
func exampleWords(e compare.Example) string {
	f := e.Figures
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.ActOverlap > 0 {
		add("acts overlap for %s", millis(milliseconds(f.ActOverlap)))
	}
	if f.StaleAttempted > 0 {
		add("%s, of which a resource without a fence took %s and one with a fence %s", times(f.StaleAttempted, "late act"),
			grouped(f.StaleAcceptedUnfenced), ofAll(f.StaleAcceptedFenced, f.StaleAttempted))
	}
	if f.BeliefOverlap > 0 {
		add("two believe to lead for %s", millis(milliseconds(f.BeliefOverlap)))
	}
	if f.FailedOver {
		add("failover %s", millis(milliseconds(f.Failover)))
	}
	if f.Leaderless > 0 {
		add("nobody leads for %s", millis(milliseconds(f.Leaderless)))
	} else {
		add("somebody leads all the time")
	}
	if f.Kept {
		add("the leader outlives it")
	}
	s := strings.Join(parts, "; ")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
