package report_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
	"incumbent/compare/report"
)

// adrDay is the date of all records of the tests.
var adrDay = time.Date(2026, time.November, 29, 23, 59, 0, 0, time.UTC)

// adrFaults are all that requirements are about, and what guards are for.
var adrFaults = []string{
	"calm", "resign", "crash", "pause-write", "master-crash",
	"restart-empty", "restart-old", "read-only", "failover", "failover-twice", "flushall", "del", "evict", "clock-jump", "old-primary",
}

// adrReport is a whole report in which nothing went wrong.
func adrReport(faults ...string) report.Report {
	r := &compare.Result{Lab: history.Virtual, Acts: 4200, Plan: compare.Plan{
		Seed: 7, Runs: 100, TTL: 2 * time.Second, Candidates: 3, Faults: faults,
		Modes: []compare.Mode{{Kind: "single", Masters: 1}, {Kind: "quorum", Masters: 3}, {Kind: "quorum", Masters: 5}},
	}}
	for _, j := range r.Plan.Jobs()[:r.Plan.Cells()] {
		r.Cells = append(r.Cells, adrCell(j))
		r.Worst = append(r.Worst, compare.Example{})
	}
	r.Runs = 100 * len(r.Cells)
	return report.Report{
		Result: r, Versions: "incumbent v0.0.0, go1.0", Host: "linux/amd64, 2 cores", Command: "incumbent compare --seed 7 --out results",
		Next: "incumbent compare --seed 107 --out results",
	}
}

func adrCell(j compare.Job) measure.Cell {
	c := measure.Cell{
		Mode: j.Mode, Masters: j.Masters, Fault: j.Fault, Guards: j.Guards, Lab: history.Virtual, Runs: 100,
		Failover:   measure.Quantiles{N: 100, P50: 1830, P90: 1970, P99: 1976, Max: 1980},
		Overshoot:  measure.Quantiles{N: 100, P50: 2.4, P90: 4.5, P99: 5, Max: 5.1},
		Leaderless: measure.Quantiles{N: 100, P50: 25, P90: 26, P99: 27, Max: 28},
	}
	f, err := fault.ByName(j.Fault)
	if err != nil {
		return c
	}
	switch {
	case f.Calm:
		c.Load = &measure.Load{Leader: 1.6 * float64(j.Masters), Standby: 0.5 * float64(j.Masters)}
	case j.Fault == "resign":
		c.Failover = measure.Quantiles{N: 100, P50: 0.76, P90: 0.92, P99: 0.98, Max: 1.1}
	case j.Fault == "master-crash":
		c.Failover.N, c.Kept = 70, 30
	case j.Fault == "restart-empty":
		c.Leaderless = measure.Quantiles{N: 100, P50: 2755, P90: 2980, P99: 3005, Max: 3010}
		if j.Masters > 1 {
			c.Leaderless = measure.Quantiles{N: 100, P50: 390, P90: 870, P99: 1600, Max: 1659}
		}
	case f.Stalls:
		c.ActWindow = measure.Quantiles{N: 100, P50: 1500, P90: 2000, P99: 2300, Max: 2320}
		c.StaleAttempted, c.StaleAcceptedUnfenced = 100, 100
	}
	if f.Danger == fault.Remaining || f.Danger == fault.Guarded && j.Guards == history.GuardsOff {
		c.BeliefWindow = measure.Quantiles{N: 75, P50: 300, P90: 500, P99: 560, Max: 561}
		c.ActWindow = measure.Quantiles{N: 74, P50: 290, P90: 490, P99: 550, Max: 551}
	}
	return c
}

// decided adds the decision on an SLO.
func decided(t *testing.T, rep report.Report, slo string) report.Report {
	t.Helper()
	parsed, err := decide.Parse(slo)
	if err != nil {
		t.Fatal(err)
	}
	d := decide.Decide(parsed, rep.Result)
	rep.Decision = &d
	return rep
}

func adrOf(t *testing.T, rep report.Report) string {
	t.Helper()
	doc := report.ADR(adrDay)
	if doc.Name != report.ADRFile {
		t.Errorf("the record is called %q", doc.Name)
	}
	var b bytes.Buffer
	if err := doc.Write(&b, rep); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestADR: golden records of what can come of a comparison.
func TestADR(t *testing.T) {
	interrupted := adrReport(adrFaults...)
	interrupted.Result.Interrupted = true
	interrupted.Result.Runs = 1234
	broken := adrReport(adrFaults...)
	broken.Result.Broken = []compare.Broken{{Job: broken.Result.Plan.Jobs()[5], Violation: measure.Violation{
		Rule: measure.BeliefOverlap, At: time.Second, Actor: "candidate-1", Text: "seen",
	}}}
	nothing := adrReport(adrFaults...)
	nothing.Result.Cells, nothing.Result.Worst, nothing.Result.Runs, nothing.Result.Interrupted = nil, nil, 0, true
	for name, test := range map[string]struct {
		rep  report.Report
		met  bool
		want []string
	}{
		"no-slo": {adrReport(adrFaults...), false, []string{
			"Open. No requirements were given", "**The team's choice** (to be filled in): ________, because ________.", "none are made up here",
		}},
		"single": {decided(t, adrReport(adrFaults...), "failover=3s,overlap=0,fence=yes,servers<=3"), true, []string{
			"Chosen option: single, with a TTL of 2s and a renewal every 666ms", "MISSED: 5 servers", "0 of 1,400 runs (95 % upper bound 0.21 %)",
		}},
		"quorum": {decided(t, adrReport(adrFaults...), "failover=3s,leaderless=2s,overlap=0,fence=yes,loss-of-master=survive"), true, []string{
			"Chosen option: quorum3", "MISSED: one master",
		}},
		"none": {decided(t, adrReport(adrFaults...), "leaderless=0,overlap=0,fence=yes,loss-of-master=survive"), false, []string{
			"Nothing is chosen: no mode that was played keeps to all drivers.", "Consensus is due", "The team's choice",
		}},
		"not-measured": {decided(t, adrReport("resign", "restart-empty"), "failover=3s,handover=100ms"), false, []string{
			"not measured: --faults crash", "--faults all",
		}},
		"interrupted": {decided(t, interrupted, "failover=3s"), false, []string{
			"Nothing is chosen: this run is no basis for a decision.", "**INCOMPLETE: interrupted when 1,234 of",
		}},
		"broken":  {decided(t, broken, "failover=3s"), false, []string{"**RULES BROKEN", "1 rule was broken, the first with seed 7."}},
		"nothing": {nothing, false, []string{"INCOMPLETE"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := adrOf(t, test.rep)
			if chosen := strings.Contains(got, "Chosen option:"); chosen != test.met {
				t.Errorf("an option is chosen: %v, want %v", chosen, test.met)
			}
			if open := strings.Contains(got, "The team's choice"); open == test.met {
				t.Errorf("the choice is left open: %v", open)
			}
			for _, want := range append(test.want, "status: proposed", "date: 2026-11-29") {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing", want)
				}
			}
			wellFormed(t, got)
			golden(t, "adr-"+name+".md", []byte(got))
		})
	}
}

// TestADRTellsOfAcks: what closes old-primary is said with its figure, and what is left
// stands against every mode.
func TestADRTellsOfAcks(t *testing.T) {
	got := adrOf(t, adrReport(append(adrFaults, "old-primary-acks", "clock-jump-new")...))
	want := "old-primary (in 74 of 100 runs, for up to 551 ms) and clock-jump-new (in 74 of 100 runs, for up to 551 ms). Tokens at the resource help, " +
		"and replica\\_acks for old-primary (with it, acts overlapped in 0 of 100 runs) where no"
	if n := strings.Count(got, want); n != 3 {
		t.Errorf("it stands there %d times, want 3:\n%s", n, got)
	}
}

// TestADRConfirmsWithOtherSeeds: playing the same again confirms nothing.
func TestADRConfirmsWithOtherSeeds(t *testing.T) {
	got := adrOf(t, decided(t, adrReport(adrFaults...), "failover=10s"))
	_, confirm, _ := strings.Cut(got, "### Confirmation")
	confirm, _, _ = strings.Cut(confirm, "\n## ")
	if strings.Count(confirm, "--seed 107 ") != 2 || strings.Contains(confirm, "--seed 7 ") {
		t.Errorf("it is confirmed by:%s", confirm)
	}
}

// TestADRNamesItsLab: what real processes have shown is confirmed by real processes, and
// nobody is told that they do the same again.
func TestADRNamesItsLab(t *testing.T) {
	for lab, real := range map[string]bool{history.Virtual: false, history.Local: true, "sentinel": true} {
		for _, slo := range []string{"", "failover=10s"} {
			rep := adrReport(adrFaults...)
			rep.Result.Lab = lab
			if slo != "" {
				rep = decided(t, rep, slo)
			}
			got := adrOf(t, rep)
			_, confirm, _ := strings.Cut(got, "### Confirmation")
			confirm, _, _ = strings.Cut(confirm, "\n## ")
			if n := strings.Count(confirm, "incumbent compare "); n == 0 || real && strings.Count(confirm, "--lab "+lab+" ") != n || !real && strings.Contains(confirm, "--lab") {
				t.Errorf("lab %s: it is confirmed by:%s", lab, confirm)
			}
			if strings.Contains(got, "the same seeds give the same") == real || strings.Contains(got, "so compare intervals") != real {
				t.Errorf("lab %s: what a repetition gives is said wrongly:\n%s", lab, got)
			}
		}
	}
}

// sections are those of MADR 4, in their order.
var sections = []string{
	"# ", "## Context and Problem Statement", "## Decision Drivers", "## Considered Options", "## Decision Outcome", "### Consequences",
	"### Confirmation", "## Pros and Cons of the Options", "## What this record does not say", "## More Information",
}

// wellFormed checks what holds of every record.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	at := 0
	for _, s := range sections {
		i := strings.Index(text[at:], "\n"+s)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place", s)
		}
		at += i
	}
	columns := 0
	for line := range strings.SplitSeq(text, "\n") {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns > 0 && n > 0 && n != columns {
			t.Errorf("a row with %d columns after one with %d: %s", n, columns, line)
		}
		columns = n
	}
	for _, bad := range []string{"<no value>", "%!", "NaN", "\n\n\n", "{{", " \n"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q in the record", bad)
		}
	}
	if !strings.HasPrefix(text, "---\nstatus:") || !strings.HasSuffix(text, ".\n") {
		t.Errorf("the record begins or ends otherwise")
	}
}

// TestADREscapes: text from elsewhere adds no markup, no line and no heading.
func TestADREscapes(t *testing.T) {
	const evil = "x` | **b**\n# head\n<script>alert(1)</script> [a](http://evil.example) @you"
	rep := decided(t, adrReport(adrFaults...), "failover=3s")
	rep.Versions, rep.Host, rep.Command, rep.Next = evil, evil, evil, evil
	rep.Decision.Reason, rep.Decision.Notes, rep.Decision.Next = evil, []string{evil}, evil
	rep.Decision.Options[0].Checks[0].Value = evil
	rep.Result.Cells[1].Guards, rep.Result.Plan.Faults = evil, []string{evil}
	rep.Result.Failed = []compare.Failed{{Job: compare.Job{Fault: evil}, Err: errors.New(evil)}}
	rep.Result.Broken = []compare.Broken{{Violation: measure.Violation{Rule: evil}}}
	for _, o := range rep.Decision.Options {
		o.Checks[0].Add = evil
	}
	got := adrOf(t, rep)
	wellFormed(t, got)
	plain := regexp.MustCompile("(?m)^`.*$").ReplaceAllString(got, "") // a line of code shows as it is
	for _, bad := range []string{"\n# head", "<script", "[a](", "**b**", "://evil", "@you"} {
		if strings.Contains(plain, bad) {
			t.Errorf("%q in the record:\n%s", bad, plain)
		}
	}
	if lines := strings.Split(got, "\n"); slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "# head") }) {
		t.Error("a heading from elsewhere")
	}
}
