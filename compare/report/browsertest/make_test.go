package browsertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incumbent/compare"
	"incumbent/compare/history"
	"incumbent/compare/measure"
	"incumbent/compare/report"
)

// realPage plays a small comparison with the program, and returns the page it wrote.
func realPage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/incumbent", "compare", "--runs", "3", "--quiet", "--faults", "all", "--out", dir)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, report.HTMLFile)
}

// hostile is text that wants to be markup, and a word that is wider than any page.
var hostile = "\"><svg onload=alert(1)><script>console.error(2)</script><img src=https://evil.example/x>'`{{.}}</title></style>\x1b[2J" + strings.Repeat("w", 400)

// hostilePage writes a page in which all text from elsewhere is hostile.
func hostilePage(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hostile.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	rep := report.Report{Result: hostileResult(), Versions: hostile, Host: hostile, Command: hostile, Next: hostile}
	if err := errors.Join(report.HTML(f, rep), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// hostileResult has a cell of a fault with a hostile name, its run, and what went wrong.
func hostileResult() *compare.Result {
	plan := compare.Plan{Seed: 1, Runs: 1, TTL: time.Second, Candidates: 3, Modes: []compare.Mode{{Kind: "single", Masters: 1}, {Kind: "quorum", Masters: 3}}, Faults: []string{hostile, "pause-write"}}
	r := &compare.Result{Plan: plan, Lab: history.Virtual, Interrupted: true}
	for _, j := range plan.Jobs() {
		run := history.Run{Seed: j.Seed, Mode: j.Mode, Masters: j.Masters, Fault: j.Fault, Guards: j.Guards, Lab: history.Virtual, TTL: j.TTL, Length: 4 * time.Second}
		run.Events = []history.Event{
			{At: 0, Actor: hostile, Kind: history.TermStarted, Token: 1, Deadline: time.Second},
			{At: time.Second, Actor: hostile, N: 1, Kind: history.Fault, Name: hostile, Floor: time.Second / 2},
			{At: 1500 * time.Millisecond, Actor: hostile, N: 2, Kind: history.TermEnded, Token: 1, Err: hostile},
			{At: 1600 * time.Millisecond, Actor: "b", Kind: history.TermStarted, Token: 2, Deadline: 4 * time.Second},
			{At: 3 * time.Second, Actor: hostile, N: 3, Kind: history.Acted, Token: 1, Unfenced: true},
		}
		f := measure.Of(run)
		var tally measure.Tally
		tally.Add(run, f)
		r.Cells = append(r.Cells, tally.Cell())
		r.Worst = append(r.Worst, compare.Example{Job: j, Run: run, Figures: f})
		r.Broken = append(r.Broken, compare.Broken{Job: j, Violation: measure.Violation{Rule: hostile, Actor: hostile, Text: hostile}})
		r.Failed = append(r.Failed, compare.Failed{Job: j, Err: errors.New(hostile)})
		r.Runs++
	}
	return r
}

// save writes a file to the directory of pictures, if there is one.
func save(t *testing.T, name string, data []byte) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	if err := errors.Join(os.MkdirAll(*screenshots, 0o777), os.WriteFile(filepath.Join(*screenshots, name), data, 0o644)); err != nil {
		t.Fatal(err)
	}
}
