package report

import (
	"fmt"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/measure"
)

// Faults that rows of the first table are about.
const (
	crashFault   = "crash"
	resignFault  = "resign"
	restartFault = "restart-empty"
	pauseFault   = "pause-write"
	calmFault    = "calm"
	acksFault    = "old-primary-acks"
)

// A rowOf makes a row: what it is called, and what it says of the cells of a mode.
type rowOf struct {
	label, about string
	terse        []string
	of           func(m compare.Mode, cells []measure.Cell) figure
}

// rows are the rows of the first table.
func rows(rep Report) []rowOf {
	slo, crash := "no SLO was given: --slo failover=10s", []string{"crash failover"}
	if rep.Decision != nil && rep.Decision.SLO.Failover.Set {
		slo, crash = "asked for: at most "+duration(rep.Decision.SLO.Failover.Max), append(crash, "  against SLO")
	}
	return []rowOf{
		{"Worst failover after a crash", slo, crash, func(m compare.Mode, cells []measure.Cell) figure {
			return crashRow(rep.Decision, m, cells)
		}},
		{"Hand-over, p99", "the leader resigns", []string{"hand-over p99"}, func(_ compare.Mode, cells []measure.Cell) figure {
			return handoverRow(cells)
		}},
		{"Leaderless on a restart", "a master comes back empty; guards on", []string{"leaderless on a", "master's restart"}, func(_ compare.Mode, cells []measure.Cell) figure {
			return leaderlessRow(cells)
		}},
		{"Acts overlap, guards on / off", "worst of the faults that guards are for; no leader paused", []string{"acts overlap: on", "  guards off"}, func(_ compare.Mode, cells []measure.Cell) figure {
			return overlapRow(cells)
		}},
		{"Acts overlap, beyond guards", "guards on; tokens or replica_acks help", []string{"  beyond guards"}, func(_ compare.Mode, cells []measure.Cell) figure {
			return beyondRow(rep.Result.Plan, cells)
		}},
		{"Stale acts, all faults", "guards on: sent / unfenced / fence took", []string{"stale acts: sent", "  unfenced/fence"}, func(_ compare.Mode, cells []measure.Cell) figure {
			return staleRow(cells)
		}},
		{"Servers and commands/s", "while nothing is wrong", []string{"servers", "  commands/s"}, costRow},
	}
}

// find is the cell of a fault with guards on, or without where it was not played with.
func find(cells []measure.Cell, fault string) (measure.Cell, bool) {
	var found measure.Cell
	for _, c := range cells {
		if c.Fault == fault && (found.Runs == 0 || guarded(c)) {
			found = c
		}
	}
	return found, found.Runs > 0
}

// missing is a figure that there is none of.
func missing(why string) figure { return figure{Value: why, Class: noFigure, Terse: []string{why}} }

// notPlayed is for a fault that was not.
func notPlayed(fault string) figure {
	return figure{Value: "not measured", Note: "fault " + fault + " was not played", Class: noFigure, Terse: []string{"not measured"}}
}

// crashRow: a run without a successor is no short one, so it is told first.
func crashRow(d *decide.Decision, m compare.Mode, cells []measure.Cell) figure {
	c, ok := find(cells, crashFault)
	if !ok {
		return notPlayed(crashFault)
	}
	f := figure{Value: millis(c.Failover.Max), Terse: []string{tight(fmt.Sprintf("max %s, n %s", millis(c.Failover.Max), short(c.Failover.N)))}}
	f.Note = fmt.Sprintf("n %s; %s", grouped(c.Failover.N), quantileNote("p50", c.Failover.P50, medianInterval(c.Samples.Failover)))
	if c.Failover.N == 0 {
		f = figure{Value: "no successor", Note: fmt.Sprintf("in %s", times(c.Runs, "run")), Terse: []string{"no successor"}}
	}
	lost := c.Runs - c.Failover.N
	if lost > 0 {
		f.Note += fmt.Sprintf("; no successor in %s of %s runs", grouped(lost), grouped(c.Runs))
		f.Class = badFigure
	}
	return held(f, d, m, c.Failover.Max, lost)
}

// held holds a worst failover against the SLO.
func held(f figure, d *decide.Decision, m compare.Mode, worst float64, lost int) figure {
	if d == nil || !d.SLO.Failover.Set {
		return f
	}
	limit := duration(d.SLO.Failover.Max)
	met := lost == 0 && worst <= milliseconds(d.SLO.Failover.Max)
	var check decide.Check
	for _, o := range d.Options {
		if o.Mode != m {
			continue
		}
		check = decide.Check{State: decide.NotMeasured}
		for _, c := range o.Checks {
			if c.Key == decide.Failover {
				check, met = c, c.State == decide.Met
			}
		}
		if bound := expected(o, check, worst); bound != "" && lost == 0 && worst <= milliseconds(d.SLO.Failover.Max) {
			f.Note += "; to be expected: up to " + bound
		}
	}
	if why := untold(d, check); why != "" {
		f.Class, f.Value = noFigure, f.Value+", "+why
		f.Terse = append(f.Terse, terseLimit(limit, why))
		return f
	}
	if met {
		f.Class, f.Value = goodFigure, f.Value+", met"
		f.Terse = append(f.Terse, terseLimit(limit, "met"))
		return f
	}
	f.Class, f.Value = badFigure, f.Value+", MISSED"
	f.Terse = append(f.Terse, terseLimit(limit, "MISSED"))
	return f
}

// terseLimit leaves out the limit where both have no room: the report's page has it.
func terseLimit(limit, why string) string {
	if s := "SLO " + limit + ": " + why; len(s) <= columnWidth {
		return s
	}
	return "SLO: " + why
}

// untold says why a requirement can neither be met nor missed; "" where it is one of
// them.
func untold(d *decide.Decision, c decide.Check) string {
	switch {
	case d.Flaw != "" && c.State != decide.Missed:
		return "not decided"
	case c.Key == "" || c.State != decide.NotMeasured:
		return ""
	case strings.HasPrefix(c.Add, "--runs"):
		return "too few runs"
	case strings.HasPrefix(c.Add, "--guards"):
		return "guards off only"
	}
	return "not played"
}

// tight leaves out what a narrow column has no room for.
func tight(s string) string {
	if len(s) > columnWidth {
		return strings.ReplaceAll(s, ", ", " ")
	}
	return s
}

// expected is the worst failover to expect at the TTL that was played; "" where that is
// no more than the worst that was seen.
func expected(o decide.Option, check decide.Check, worst float64) string {
	switch {
	case o.Advice != nil && !o.Fits: // o.Failover is that of another TTL
		if check.State == decide.Missed {
			return check.Value
		}
	case milliseconds(o.Failover) > worst:
		return millis(milliseconds(o.Failover))
	}
	return ""
}

// quantileNote writes a quantile with its interval, or what its interval lacks.
func quantileNote(what string, value float64, i interval) string {
	if i.bounded() {
		return fmt.Sprintf("%s %s, within %s", what, number(value), i.between())
	}
	return fmt.Sprintf("%s %s (too few runs for an interval)", what, millis(value))
}

func handoverRow(cells []measure.Cell) figure {
	c, ok := find(cells, resignFault)
	if !ok {
		return notPlayed(resignFault)
	}
	if c.Failover.N == 0 {
		return missing("no successor")
	}
	f := figure{Value: millis(c.Failover.P99), Terse: []string{fmt.Sprintf("%s, n %s", millis(c.Failover.P99), short(c.Failover.N))}}
	f.Note = p99Note(c.Samples.Failover, c.Failover.N)
	if lost := c.Runs - c.Failover.N; lost > 0 {
		f.Note += fmt.Sprintf("; no successor in %s of %s runs", grouped(lost), grouped(c.Runs))
		f.Class = badFigure
	}
	return f
}

// p99Note is the interval of a 99th percentile: its upper end needs many runs.
func p99Note(samples []time.Duration, n int) string {
	i := quantileInterval(samples, 0.99)
	switch {
	case i.bounded():
		return fmt.Sprintf("n %s; within %s", grouped(n), i.between())
	case n < enoughFor(0.99):
		return fmt.Sprintf("n %s; an upper bound needs %s runs", grouped(n), grouped(enoughFor(0.99)))
	}
	return "n " + grouped(n)
}

func leaderlessRow(cells []measure.Cell) figure {
	c, ok := find(cells, restartFault)
	if !ok {
		return notPlayed(restartFault)
	}
	if !guarded(c) {
		return missing("guards off only")
	}
	return figure{
		Value: fmt.Sprintf("p50 %s, worst %s", number(c.Leaderless.P50), millis(c.Leaderless.Max)),
		Note:  fmt.Sprintf("n %s; %s", grouped(c.Leaderless.N), leaderlessInterval(c)),
		Terse: []string{
			fmt.Sprintf("p50 %s", millis(c.Leaderless.P50)),
			fmt.Sprintf("max %s n %s", millis(c.Leaderless.Max), short(c.Leaderless.N)),
		},
	}
}

func leaderlessInterval(c measure.Cell) string {
	if i := medianInterval(c.Samples.Leaderless); i.bounded() {
		return "p50 within " + i.between()
	}
	return "too few runs for an interval"
}

// costRow is what a mode needs while nothing is wrong.
func costRow(m compare.Mode, cells []measure.Cell) figure {
	f := figure{Value: times(m.Masters, "server"), Terse: []string{grouped(m.Masters), "not measured"}, Note: "commands: not measured"}
	c, ok := find(cells, calmFault)
	if !ok || c.Load == nil {
		return f
	}
	f.Value += fmt.Sprintf(", %s + %s each", perSecond(c.Load.Leader), perSecond(c.Load.Standby))
	f.Note = fmt.Sprintf("leader + each standby, to all servers; n %s", grouped(c.Runs))
	f.Terse[1] = fmt.Sprintf("%s + %s each", perSecond(c.Load.Leader), perSecond(c.Load.Standby))
	return f
}
