package report_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"incumbent/compare"
	"incumbent/compare/history"
	"incumbent/compare/measure"
	"incumbent/compare/report"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (rewrite it with -update, and read the diff):\n%s", path, got)
	}
}

const versions = "incumbent v0.0.0, go1.0"

func plan() compare.Plan {
	return compare.Plan{
		Seed: 7, Runs: 2000, TTL: 2 * time.Second, Candidates: 3,
		Modes:  []compare.Mode{{Kind: "single", Masters: 1}, {Kind: "quorum", Masters: 3}},
		Faults: []string{"resign", "crash", "pause-write", "master-crash", "restart-empty", "old-primary"},
	}
}

// cell is one of 2000 runs in which nothing overlapped.
func cell(mode string, masters int, fault, guards string) measure.Cell {
	return measure.Cell{
		Mode: mode, Masters: masters, Fault: fault, Guards: guards, Lab: "virtual", Runs: 2000,
		Failover:   measure.Quantiles{N: 2000, P50: 1661.25, P90: 1934.5, P99: 1980, Max: 2002.75},
		Overshoot:  measure.Quantiles{N: 2000, P50: 2.104, P90: 14.25, P99: 20, Max: 21},
		Leaderless: measure.Quantiles{N: 2000, P50: 24.34, P90: 30, P99: 31, Max: 32},

		BeliefOverlap: measure.Quantiles{N: 2000}, ActOverlap: measure.Quantiles{N: 2000},
	}
}

// overlapping is a cell of which so many runs overlapped for up to max.
func overlapping(c measure.Cell, n int, longest float64) measure.Cell {
	c.BeliefWindow = measure.Quantiles{N: n, P50: longest / 2, P90: longest - 2, P99: longest - 1, Max: longest}
	c.BeliefOverlap = measure.Quantiles{N: 2000, P90: longest / 4, P99: longest - 1, Max: longest}
	c.ActWindow, c.ActOverlap = c.BeliefWindow, c.BeliefOverlap
	c.ActWindow.Max--
	c.StaleAttempted, c.StaleAcceptedUnfenced = 4*n, 4*n
	return c
}

// result has cells of all sorts: without successors, with and without overlaps and
// stale acts.
func result() *compare.Result {
	r := &compare.Result{Plan: plan(), Lab: "virtual", Runs: 16_000, Acts: 400_000, Took: 12 * time.Second}
	resign := cell("single", 1, "resign", "on")
	resign.Failover = measure.Quantiles{N: 2000, P50: 0.774, P90: 0.891, P99: 0.99, Max: 1.5}
	resign.Overshoot = resign.Failover
	nobody := cell("single", 1, "master-crash", "on")
	nobody.Failover, nobody.Overshoot = measure.Quantiles{}, measure.Quantiles{}
	paused := cell("quorum", 3, "pause-write", "on")
	paused.ActWindow = measure.Quantiles{N: 2000, P50: 1500, P90: 2000, P99: 2400, Max: 2534.9}
	paused.StaleAttempted, paused.StaleAcceptedUnfenced = 2000, 2000
	on := cell("quorum", 3, "restart-empty", "on")
	on.Kept = 511
	on.Leaderless.P50 = 2727
	off := overlapping(cell("quorum", 3, "restart-empty", "off"), 1411, 1719.5)
	off.Kept = 511
	r.Cells = []measure.Cell{
		resign, cell("single", 1, "crash", "on"), cell("quorum", 3, "crash", "on"), paused, nobody,
		on, off, overlapping(cell("single", 1, "old-primary", "on"), 2000, 4510),
	}
	return r
}

// bad is a result in which a guard failed, and a run.
func bad() *compare.Result {
	r := result()
	r.Interrupted = true
	r.Cells[5] = overlapping(r.Cells[5], 3, 12.5)
	r.Cells[5].StaleAcceptedFenced = 2
	job := r.Plan.Jobs()[5]
	for range 12 {
		r.Broken = append(r.Broken, compare.Broken{Job: job, Violation: measure.Violation{
			Rule: measure.BeliefOverlap, At: time.Second, Actor: "candidate-1", Text: "seen",
		}})
	}
	r.Failed = []compare.Failed{{Job: job, Err: errors.New("it died")}}
	return r
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := report.Table(&b, result(), versions); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", b.Bytes())
	for _, line := range strings.Split(b.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d characters wide: %s", n, line)
		}
	}
}

func TestVerdict(t *testing.T) {
	calm := result()
	calm.Cells = calm.Cells[:3]
	store := result()
	store.Cells = store.Cells[5:]
	none := &compare.Result{Plan: plan(), Interrupted: true}
	var b bytes.Buffer
	for _, r := range []*compare.Result{result(), calm, store, bad(), none} {
		if err := report.Verdict(&b, r); err != nil {
			t.Fatal(err)
		}
		b.WriteString("--\n")
	}
	golden(t, "verdict.txt", b.Bytes())
}

func TestSummary(t *testing.T) {
	var b bytes.Buffer
	if err := report.Summary(&b, result(), versions); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.json", b.Bytes())
	b.Reset()
	if err := report.Summary(&b, &compare.Result{}, ""); err != nil || !strings.Contains(b.String(), `"cells": []`) {
		t.Errorf("without cells: %v, %s", err, &b)
	}
}

// runs are two that have all that can be in a run, and one in which nothing was.
func runs() []history.Run {
	head := history.Run{Seed: 7, Mode: "quorum", Masters: 3, Fault: "pause-write", Guards: "off", Lab: "virtual", TTL: 2 * time.Second}
	one, two := head, head
	one.Length = 5 * time.Second
	one.Events = []history.Event{
		{At: 0, Actor: "a", Kind: history.TermStarted, Token: 1, Deadline: 2 * time.Second},
		{At: time.Second, Actor: "a", N: 1, Kind: history.Fault, Name: "pause-write", Floor: 900 * time.Millisecond},
		{At: 2 * time.Second, Actor: "a", N: 2, Kind: history.TermEnded, Token: 1, Err: "expired"},
		{At: 2001 * time.Millisecond, Actor: "b", Kind: history.TermStarted, Token: 2, Deadline: 4 * time.Second},
		{At: 3 * time.Second, Actor: "a", N: 3, Kind: history.Acted, Token: 1, Unfenced: true},
	}
	two.Seed = 8
	return []history.Run{one, two}
}

// write writes both runs to a new directory and returns it.
func write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new", "dir")
	d, err := report.Create(path, plan(), "virtual", versions)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs() {
		if err := d.Add(run, measure.Of(run)); err != nil {
			t.Fatal(err)
		}
	}
	if names := list(t, path); len(names) != 2 || names[0][0] != '.' || names[1][0] != '.' {
		t.Errorf("before Commit there are %v", names)
	}
	if err := d.Commit(report.Report{Result: result()}); err != nil {
		t.Fatal(err)
	}
	return path
}

func list(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestDir(t *testing.T) {
	path := write(t)
	if names := list(t, path); strings.Join(names, " ") != "events.jsonl report.html report.md results.txt summary.json" {
		t.Errorf("there are %v", names)
	}
	for _, name := range []string{report.ResultsFile, report.EventsFile} {
		text, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, text)
	}
}
