package report_test

import (
	"errors"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
	"incumbent/compare/report"
)

const msec = time.Millisecond

// paused is a run in which a leader is paused between check and write, and the fence
// refuses what it does afterwards.
func paused(j compare.Job) history.Run {
	run := history.Run{Seed: j.Seed, Mode: j.Mode, Masters: j.Masters, Fault: j.Fault, Guards: j.Guards, Lab: history.Virtual, TTL: j.TTL, Length: 6 * time.Second}
	add := func(at int, actor string, e history.Event) {
		e.At, e.Actor, e.N = time.Duration(at)*msec, actor, len(run.Events)
		run.Events = append(run.Events, e)
	}
	add(5, "candidate-2", history.Event{Kind: history.TermStarted, Token: 1, Deadline: 2 * time.Second})
	for at := 10; at < 1600; at += 200 {
		add(at, "candidate-2", history.Event{Kind: history.Acted, Token: 1, Unfenced: true, Fenced: true})
	}
	add(1600, "candidate-2", history.Event{Kind: history.Fault, Name: j.Fault, Floor: 1650 * msec})
	add(3250, "candidate-2", history.Event{Kind: history.TermEnded, Token: 1, Err: "expired"})
	add(3275, "candidate-3", history.Event{Kind: history.TermStarted, Token: 2, Deadline: 7 * time.Second})
	for at := 3276; at < 5900; at += 200 {
		add(at, "candidate-3", history.Event{Kind: history.Acted, Token: 2, Unfenced: true, Fenced: true})
	}
	add(4765, "lab", history.Event{Kind: history.Healed, Name: j.Fault})
	add(4766, "candidate-2", history.Event{Kind: history.Acted, Token: 1, Unfenced: true})
	return run
}

// ramp is n samples from first to last.
func ramp(n int, first, last time.Duration) []time.Duration {
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = first + (last-first)*time.Duration(i)/time.Duration(max(n-1, 1))
	}
	return list
}

// sampled is a cell of n runs with such a failover, which is 25 ms above the floor. It
// keeps at most 2000 samples.
func sampled(m compare.Mode, name, guards string, n int, first, last time.Duration) measure.Cell {
	c := measure.Cell{Mode: m.Kind, Masters: m.Masters, Fault: name, Guards: guards, Lab: history.Virtual, Runs: n}
	some := min(n, 2000)
	c.Samples = measure.Samples{Failover: ramp(some, first, last), Overshoot: ramp(some, 2*msec, 25*msec), Leaderless: ramp(some, 20*msec, 30*msec)}
	c.Failover, c.Overshoot, c.Leaderless = measure.QuantilesOf(c.Samples.Failover), measure.QuantilesOf(c.Samples.Overshoot), measure.QuantilesOf(c.Samples.Leaderless)
	c.Failover.N, c.Overshoot.N, c.Leaderless.N = n, n, n
	c.BeliefOverlap, c.ActOverlap = measure.Quantiles{N: n}, measure.Quantiles{N: n}
	return c
}

// made is a result of those faults, as a lab could have played it.
func made(runs int, modes []compare.Mode, faults ...string) *compare.Result {
	r := &compare.Result{Lab: history.Virtual, Took: time.Minute}
	r.Plan = compare.Plan{Seed: 7, Runs: runs, TTL: 2 * time.Second, Candidates: 3, Modes: modes, Faults: faults}
	for i, j := range r.Plan.Jobs()[:r.Plan.Cells()] {
		mode := compare.Mode{Kind: j.Mode, Masters: j.Masters}
		c := sampled(mode, j.Fault, j.Guards, runs, 1500*msec, 1974*msec+time.Duration(i)*msec)
		f, _ := fault.ByName(j.Fault)
		switch {
		case j.Fault == "resign":
			c = sampled(mode, j.Fault, j.Guards, runs, msec/2, 1500*time.Microsecond)
		case j.Fault == "calm":
			c = sampled(mode, j.Fault, j.Guards, runs, 0, 0)
			c.Failover, c.Overshoot, c.Samples = measure.Quantiles{}, measure.Quantiles{}, measure.Samples{}
			c.Load = &measure.Load{Leader: 1.6 * float64(j.Masters), Standby: 0.5 * float64(j.Masters)}
		case f.Stalls:
			c.ActWindow = measure.Quantiles{N: runs, P50: 1400, P90: 1480, P99: 1490, Max: 1491}
			c.ActOverlap, c.StaleAttempted, c.StaleAcceptedUnfenced = c.ActWindow, runs, runs
		case f.Danger == fault.Remaining:
			c = overlapping(c, runs*4/5, 4306)
		case f.Danger == fault.Guarded && j.Guards == history.GuardsOff:
			c = overlapping(c, runs/2, 1400)
		}
		if j.Fault == "restart-empty" && j.Masters == 1 {
			c.Outage, c.Election = measure.Quantiles{N: runs}, c.Failover
		}
		r.Cells = append(r.Cells, c)
		run := paused(j)
		r.Worst = append(r.Worst, compare.Example{Job: j, Run: run, Figures: measure.Of(run)})
		r.Runs += runs
		r.Acts += 20 * runs
	}
	return r
}

var (
	single  = compare.Mode{Kind: "single", Masters: 1}
	quorum3 = compare.Mode{Kind: "quorum", Masters: 3}
	quorum5 = compare.Mode{Kind: "quorum", Masters: 5}
)

// reportOf is a report of a result.
func reportOf(r *compare.Result) report.Report {
	return report.Report{
		Result: r, Versions: versions, Host: "linux/amd64, 2 cores", Command: "incumbent compare --faults all --out results",
		Next: "incumbent compare --modes single,quorum3,quorum5 --faults crash,pause-write,restart-empty --seed 2007 --runs 2000 --out results",
	}
}

// reports are those of which all forms are kept as golden files.
func reports() map[string]report.Report {
	all := []compare.Mode{single, quorum3, quorum5}
	faults := []string{"resign", "crash", "pause-write", "restart-empty"}
	whole := reportOf(made(2000, all, append(faults, "calm")...))
	met := reportOf(made(100, all, faults...))
	met.Decision = decision(true)
	missed := reportOf(made(100, all, faults...))
	missed.Decision = decision(false)
	interrupted := reportOf(made(20, all, faults...))
	interrupted.Result.Interrupted, interrupted.Result.Plan.Runs = true, 100
	broken := reportOf(made(20, all, faults...))
	breakRules(broken.Result)
	beyond := append(faults, "calm", "old-primary", "clock-jump-new")
	undecided := reportOf(made(5, all, beyond...))
	undecided.Result.Plan.Renew, undecided.Result.Plan.Link, undecided.Result.Plan.Loss, undecided.Result.Plan.Drift = 300*msec, "zone", 0.01, 0.5
	undecided = judged(undecided, "failover=3s,overlap=0,fence=yes")
	impossible := judged(reportOf(made(100, all, beyond...)), "failover=20ms")
	off := reportOf(made(20, all, beyond...))
	off.Result.Plan.Guards = []string{history.GuardsOff}
	off.Result.Plan.Schedules = []fault.Schedule{{Name: "restarts"}}
	for i := range off.Result.Cells {
		off.Result.Cells[i].Guards = history.GuardsOff
	}
	return map[string]report.Report{
		"whole": whole, "met": met, "missed": missed, "interrupted": interrupted, "broken": broken,
		"one-mode":  reportOf(made(5, []compare.Mode{quorum3}, "crash", "master-crash")),
		"undecided": undecided, "impossible": impossible, "off": off,
		"nothing": {Result: &compare.Result{Plan: plan(), Lab: history.Virtual, Interrupted: true}},
	}
}

// judged adds the decision on an SLO.
func judged(rep report.Report, text string) report.Report {
	slo, err := decide.Parse(text)
	if err != nil {
		panic(err)
	}
	d := decide.Decide(slo, rep.Result)
	rep.Decision = &d
	if d.Next != "" {
		rep.Next = d.Next
	}
	return rep
}

// breakRules lets a guard fail in three runs, and another run die.
func breakRules(r *compare.Result) {
	for i, c := range r.Cells {
		if c.Fault == "restart-empty" && c.Guards == history.GuardsOn && c.Masters == 3 {
			r.Cells[i] = overlapping(c, 3, 12.5)
			r.Cells[i].StaleAcceptedFenced = 2
		}
		if c.Fault == "crash" && c.Masters == 5 {
			r.Cells[i].Failover.N--
			r.Cells[i].Samples.Failover = c.Samples.Failover[:c.Runs-1]
		}
	}
	for i := range 12 {
		job := r.Plan.Jobs()[r.Plan.Cells()*(i/4)+11]
		r.Broken = append(r.Broken, compare.Broken{Job: job, Violation: measure.Violation{Rule: measure.BeliefOverlap, At: time.Second, Actor: "candidate-1", Text: "seen"}})
	}
	r.Failed = []compare.Failed{{Job: r.Plan.Jobs()[3], Err: errors.New("it died")}}
}

// decision is one in which single fits, or nothing does.
func decision(met bool) *decide.Decision {
	d := &decide.Decision{Met: met, Reason: "No crash was survived within 1s. A shorter TTL would do."}
	d.SLO.Failover = decide.Limit[time.Duration]{Set: true, Max: time.Second}
	if met {
		d.SLO.Failover.Max, d.Reason = 10*time.Second, "single is the cheapest that fits. It needs one server."
	}
	for _, m := range []compare.Mode{single, quorum3, quorum5} {
		o := decide.Option{Mode: m, Fits: met, TTL: 2 * time.Second, Renew: 666 * msec, Failover: 2025 * msec, Servers: m.Masters, Rate: 2.6 * float64(m.Masters)}
		if !met {
			o.Misses = []string{"failover: 1,974 ms in the worst of 100 runs, asked for: 1 s."}
			o.Played, o.Checks = 2*time.Second, []decide.Check{{Key: decide.Failover, State: decide.Missed, Value: "2.03s", Rule: "at most 1s"}}
		}
		d.Options = append(d.Options, o)
	}
	if met {
		d.Choice = &d.Options[0]
	}
	return d
}

// hostile is text that wants to be markup, and a command of a terminal.
const hostile = "\"><svg onload=alert(1)><script>alert(2)</script>'`|*_[x](javascript:alert(3))\n# <img src=https://evil.example/x> @you #1 \x1b[2J${x}{{.}}</title></style>"

// swap replaces all text in a report that comes from elsewhere.
func swap(rep report.Report, text string) report.Report {
	r := rep.Result
	rep.Versions, rep.Host, rep.Command, rep.Next = text, text, text, text
	r.Plan.Faults = append(r.Plan.Faults, text)
	c := r.Cells[0]
	c.Fault = text
	e := r.Worst[0]
	e.Job.Fault, e.Run.Fault = text, text
	e.Run.Events = append([]history.Event(nil), e.Run.Events...)
	for i := range e.Run.Events {
		e.Run.Events[i].Actor = text + e.Run.Events[i].Actor
		e.Run.Events[i].Name = text
	}
	r.Cells, r.Worst = append(r.Cells, c), append(r.Worst, e)
	for i := range r.Worst {
		if r.Worst[i].Job.Fault == "pause-write" {
			r.Worst[i].Run = e.Run
		}
	}
	r.Broken[0].Violation.Text, r.Broken[0].Violation.Rule, r.Broken[0].Job.Fault = text, text, text
	r.Failed[0].Err = errors.New(text)
	rep.Decision = decision(false)
	rep.Decision.Reason, rep.Decision.Notes, rep.Decision.Options[0].Misses = text, []string{text}, []string{text}
	return rep
}

// attacked is a report full of text, hostile or not.
func attacked(text string) report.Report {
	rep := reportOf(made(20, []compare.Mode{single, quorum3, quorum5}, "resign", "crash", "pause-write", "restart-empty"))
	breakRules(rep.Result)
	return swap(rep, strings.Clone(text))
}
