package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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

// tiny is a comparison that takes no time.
func tiny(more ...string) []string {
	return append([]string{"compare", "--runs", "2", "--faults", "crash,pause-write", "--modes", "single,quorum3", "-q"}, more...)
}

func TestCompare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := call(t.Context(), tiny("--out", dir)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d, error %q", code, stderr)
	}
	for _, want := range []string{
		"virtual lab (simulated, not your network)", "2 runs a cell", "single ", "quorum3\n", "crash failover", "not measured",
		"Next: " + self() + " compare ",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output lacks %q:\n%s", want, stdout)
		}
	}
	if lines := strings.Count(stdout, "\n"); lines > 24 {
		t.Errorf("the first screen has %d lines", lines)
	}
	for _, name := range []string{report.HTMLFile, report.MarkdownFile, report.ADRFile, report.ResultsFile, report.EventsFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	var summary struct{ Cells []measure.Cell }
	text, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &summary); err != nil || len(summary.Cells) != 4 {
		t.Fatalf("summary: %v: %s", err, text)
	}
	c := summary.Cells[3]
	if c.Mode != "quorum" || c.Masters != 3 || c.Fault != "pause-write" || c.Guards != "on" || c.Lab != "virtual" || c.Runs != 2 ||
		c.Failover.N != 2 || c.Failover.P50 < 1000 || c.StaleAcceptedUnfenced != 2 || c.StaleAcceptedFenced != 0 {
		t.Errorf("last cell is %+v", c)
	}
}

// TestCompareGuards: faults of the store are played with guards on and off, and the
// table says what came of it.
func TestCompareGuards(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"compare", "--runs", "12", "--faults", "restart-empty,old-primary,crash", "--modes", "single", "-q", "--table", "--out", dir}
	code, stdout, stderr := call(t.Context(), args...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d, error %q, output:\n%s", code, stderr, stdout)
	}
	for _, want := range []string{
		"Faults of the store strike one master", "0 of 12 <= 22%", "of the store rule that out (95 % upper bound 22%)",
		"What no guard can close", "Without guards two did in ", "12 runs a cell from seed 1",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("output lacks %q:\n%s", want, stdout)
		}
	}
	var summary struct{ Cells []measure.Cell }
	text, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &summary); err != nil || len(summary.Cells) != 5 {
		t.Fatalf("summary: %v: %s", err, text)
	}
	for _, c := range summary.Cells {
		overlaps := c.Fault == "old-primary" || c.Guards == "off"
		if overlapped := c.BeliefWindow.N > 0; overlapped != overlaps {
			t.Errorf("%s, guards %s: overlaps %+v", c.Fault, c.Guards, c.BeliefWindow)
		}
	}
}

func TestCompareExpandsGroups(t *testing.T) {
	c := compareCommand{Modes: []string{"single"}, Faults: []string{"leader", "del"}, TTL: new(time.Second), Candidates: 2, Lab: "virtual"}
	p, err := c.plan()
	if want := append(fault.Group(fault.Leader), "del"); err != nil || !slices.Equal(p.Faults, want) {
		t.Errorf("faults are %v, %v", p.Faults, err)
	}
	c.Faults = append(c.Faults, "crash")
	if _, err := c.plan(); err == nil || !strings.Contains(err.Error(), "faults: crash: must be named once") {
		t.Errorf("error is %v", err)
	}
}

// TestCompareIsRepeatable: the number of processes and of cores changes no byte.
func TestCompareIsRepeatable(t *testing.T) {
	read := func(procs string, args ...string) (files string) {
		t.Setenv("GOMAXPROCS", procs) // of the child processes
		dir := t.TempDir()
		if code, _, stderr := call(t.Context(), tiny(append(args, "--out", dir)...)...); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		for _, name := range []string{report.EventsFile, report.ResultsFile, report.SummaryFile} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files += string(text)
		}
		return files
	}
	one := read("1", "--workers", "1", "--seed", "3")
	if two := read("4", "--workers", "3", "--seed", "3"); one != two {
		t.Error("two comparisons with one seed differ")
	}
	if three := read("1", "--seed", "4"); one == three {
		t.Error("two seeds give one comparison")
	}
}

func TestCompareInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	code, stdout, stderr := call(ctx, tiny("--out", dir)...)
	if code != exitInterrupted || stderr != "" || !strings.Contains(stdout, "INCOMPLETE: interrupted when 0 of 8 runs were played.") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, report.SummaryFile)); err != nil {
		t.Errorf("no summary: %v", err)
	}
}

// twoLeaders is a lab in which two candidates lead at once.
type twoLeaders struct{}

func (twoLeaders) Name() string { return "planted" }

func (twoLeaders) Play(_ context.Context, jobs []compare.Job, done func(int, history.Run, error)) error {
	for i, j := range jobs {
		done(i, history.Run{
			Seed: j.Seed, Mode: j.Mode, Masters: j.Masters, Fault: j.Fault, Guards: j.Guards, Lab: "planted", Length: time.Second,
			Events: []history.Event{
				{At: 1, Actor: "a", Kind: history.TermStarted, Token: 1, Deadline: time.Second},
				{At: 2, Actor: "a", N: 1, Kind: history.Fault, Floor: 1},
				{At: 5, Actor: "b", Kind: history.TermStarted, Token: 2, Deadline: time.Second},
			},
		}, nil)
	}
	return nil
}

// TestPlantedViolation: a broken rule gives exit code 1, the seed, and the command
// that replays it.
func TestPlantedViolation(t *testing.T) {
	var out, errs strings.Builder
	c := compareCommand{Modes: []string{"quorum3"}, Faults: []string{"pause"}, Runs: new(int), Seed: 41, TTL: new(3 * time.Second), Candidates: 4, Lab: "virtual", Quiet: true}
	*c.Runs = 1
	plan, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	code, err := c.play(t.Context(), streams{out: &out, err: &errs}, plan, nil, twoLeaders{})
	if code != exitFailed || err != nil {
		t.Errorf("exit code %d, error %v", code, err)
	}
	for _, want := range []string{
		"BROKEN, seed 41: " + measure.BeliefOverlap,
		"incumbent replay 41 --mode quorum3 --fault pause --guards on --ttl 3s --candidates 4",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
}

// TestCompareShowsWhatCannotBeKept: what was found is printed though its files cannot be
// written, and the exit code is that of a failure.
func TestCompareShowsWhatCannotBeKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	c := compareCommand{Modes: []string{"single"}, Faults: []string{"pause"}, Runs: new(int), Seed: 1, TTL: new(time.Second), Candidates: 2, Lab: "virtual", Quiet: true, Out: dir, Events: "all"}
	*c.Runs = 1
	plan, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	_, err = c.play(t.Context(), streams{out: &out, err: &errs}, plan, nil, removes{dir})
	if err == nil || !strings.Contains(err.Error(), "writing to "+dir) || !strings.Contains(out.String(), "RULES BROKEN") {
		t.Errorf("error %v, output %s", err, &out)
	}
}

// removes is twoLeaders, and takes the output directory away.
type removes struct{ dir string }

func (removes) Name() string { return "planted" }

func (r removes) Play(ctx context.Context, jobs []compare.Job, done func(int, history.Run, error)) error {
	return errors.Join(os.RemoveAll(r.dir), twoLeaders{}.Play(ctx, jobs, done))
}

func TestExitCode(t *testing.T) {
	broken := compare.Result{Broken: []compare.Broken{{}}, Interrupted: true}
	failed := compare.Result{Failed: []compare.Failed{{Err: errors.New("died")}}}
	missed, met := &decide.Decision{}, &decide.Decision{Met: true}
	for _, tt := range []struct {
		r    compare.Result
		d    *decide.Decision
		want int
	}{
		{compare.Result{}, nil, 0}, {broken, missed, 1}, {failed, missed, 1}, {compare.Result{Interrupted: true}, missed, 130},
		{compare.Result{}, missed, 3}, {compare.Result{}, met, 0},
	} {
		if got := exitCode(report.Report{Result: &tt.r, Decision: tt.d}); got != tt.want {
			t.Errorf("exit code %d, want %d", got, tt.want)
		}
	}
}

// TestCompareSLO: a mode that keeps the limits is named, and one that does not ends
// with an exit code of its own.
func TestCompareSLO(t *testing.T) {
	for _, tt := range []struct {
		slo, want string
		code      int
	}{
		{"failover=3s,servers<=1", "choose single with TTL 2s", exitOK},
		{"failover=1s", "NO MODE FITS failover=1s", exitMissed},
		{"failover=3s,overlap=0", "NOT DECIDED", exitUndecided},
		{"failover=fast", "--slo: failover", exitUsage},
		{"", "--slo: \"\": must ask for something", exitUsage}, // a variable that is not set
	} {
		code, stdout, stderr := call(t.Context(), "compare", "--runs", "20", "--faults", "crash", "--modes", "single,quorum3", "-q", "--slo", tt.slo)
		if code != tt.code || !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), tt.want) {
			t.Errorf("%s: exit code %d, output lacks %q:\n%s%s", tt.slo, code, tt.want, stdout, stderr)
		}
	}
}

// TestCompareKeepsEvents: of all runs, of the worst, or of none.
func TestCompareKeepsEvents(t *testing.T) {
	seeds := map[string]int{}
	for _, keep := range []string{"all", "worst", "none"} {
		dir := t.TempDir()
		args := []string{"compare", "--runs", "3", "--faults", "crash", "--modes", "single", "-q", "--out", dir, "--events", keep}
		if code, _, stderr := call(t.Context(), args...); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		text, err := os.ReadFile(filepath.Join(dir, report.EventsFile))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range 3 {
			if strings.Contains(string(text), fmt.Sprintf(`"seed":%d,`, seed+1)) {
				seeds[keep]++
			}
		}
	}
	if want := (map[string]int{"all": 3, "worst": 1}); !maps.Equal(seeds, want) {
		t.Errorf("events of so many runs: %v, want %v", seeds, want)
	}
}

func TestNext(t *testing.T) {
	standard := fault.Names()
	all := compareCommand{Modes: strings.Split(defaultModes, ","), Faults: standard, Seed: 1, TTL: new(2 * time.Second), Candidates: 3, Lab: "virtual", Quick: true}
	few := compareCommand{Modes: []string{"quorum7"}, Faults: []string{"crash"}, Seed: 5, TTL: new(time.Second), Candidates: 4, Lab: "virtual", Runs: new(int)}
	*few.Runs = 1000
	store := all
	store.Faults, store.Guards = fault.Group(fault.Store), []string{"on"}
	kept := few
	kept.Out = "dir"
	broken := compare.Result{Broken: []compare.Broken{{Job: compare.Job{Seed: 9, Mode: "single", Masters: 1, Fault: "pause", Guards: "off", TTL: time.Second, Candidates: 2}}}}
	for _, tt := range []struct {
		c    compareCommand
		r    compare.Result
		want string
	}{
		{all, compare.Result{}, self() + " compare --seed 21 --out results"},
		{store, compare.Result{}, self() + " compare --faults store --guards on --seed 21 --out results"},
		{few, compare.Result{}, self() + " compare --modes quorum7 --faults crash --ttl 1s --candidates 4 --seed 1005 --runs 1000 --out results"},
		{kept, compare.Result{}, self() + " compare --modes quorum7 --faults crash --ttl 1s --candidates 4 --seed 1005 --runs 1000 --slo failover=10s,overlap=0,fence=yes --out dir"},
		{few, compare.Result{Interrupted: true}, self() + " compare --modes quorum7 --faults crash --ttl 1s --candidates 4 --seed 5 --runs 1000"},
		{kept, broken, self() + " replay 9 --mode single --fault pause --guards off --ttl 1s --candidates 2"},
	} {
		var err error
		if tt.r.Plan, err = tt.c.plan(); err != nil {
			t.Fatal(err)
		}
		if got := tt.c.next(&tt.r); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestProgressText(t *testing.T) {
	want := "30 of 120 runs (25%), 3 a second, 30s left"
	if got := progressText(30, 120, 10*time.Second); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgress(t *testing.T) {
	var b strings.Builder
	g := newProgress(&b, compare.Plan{Runs: 2, Modes: make([]compare.Mode, 1), Faults: make([]string, 5)}, false)
	g.update(5)
	g.update(6) // too early to say anything
	g.end()
	if got := b.String(); !strings.HasPrefix(got, "5 of 10 runs (50%)") || strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("said %q", got)
	}
	b.Reset()
	quiet := newProgress(&b, compare.Plan{Runs: 1, Modes: make([]compare.Mode, 1), Faults: make([]string, 1)}, true)
	quiet.update(1)
	if b.Len() > 0 {
		t.Errorf("though quiet, said %q", b.String())
	}
}
