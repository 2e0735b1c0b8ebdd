package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incumbent/compare/measure"
	"incumbent/compare/report"
	"incumbent/internal/redisproc/redistest"
)

// TestCompareLocal plays with real servers and processes: a crash in either mode, and
// says what it cannot play.
func TestCompareLocal(t *testing.T) {
	redistest.Require(t)
	dir := t.TempDir()
	args := []string{"compare", "--lab", "local", "--runs", "1", "--ttl", "500ms", "--faults", "suspend,crash", "--modes", "single,quorum3", "--out", dir}
	code, stdout, stderr := call(t.Context(), args...)
	if code != exitOK || !strings.Contains(stderr, "left out: ") || !strings.Contains(stderr, "suspend") {
		t.Fatalf("exit code %d, error %q, output:\n%s", code, stderr, stdout)
	}
	if !strings.Contains(stdout, "local lab, TTL 500ms") || !strings.Contains(stdout, "--lab local") {
		t.Errorf("output is\n%s", stdout)
	}
	var summary struct{ Cells []measure.Cell }
	text, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &summary); err != nil || len(summary.Cells) != 2 {
		t.Fatalf("summary: %v: %s", err, text)
	}
	for _, c := range summary.Cells {
		if c.Lab != "local" || c.Fault != "crash" || c.Runs != 1 || c.Failover.N != 1 || c.Failover.Max <= 0 {
			t.Errorf("cell is %+v", c)
		}
	}
}

// TestCompareSentinelDefaults: what Sentinels do, in the one mode that they know.
func TestCompareSentinelDefaults(t *testing.T) {
	c := compareCommand{Seed: 1, Candidates: 3, Lab: "sentinel"}
	p, err := c.plan()
	if err != nil || len(p.Modes) != 1 || p.Modes[0].String() != "single" || len(p.Faults) != 5 {
		t.Errorf("plan is %+v, %v", p, err)
	}
	if got, want := c.command(p), self()+" compare --lab sentinel"; got != want {
		t.Errorf("command is %q, want %q", got, want)
	}
	c.RunsOf = map[string]int{"failover": 3, "old-primary": 2}
	if p, err = c.plan(); err != nil {
		t.Fatal(err)
	}
	if got, want := c.command(p), self()+" compare --lab sentinel --runs-of failover=3,old-primary=2"; got != want {
		t.Errorf("command is %q, want %q", got, want)
	}
	for _, wrong := range [][]string{
		{"--lab", "sentinel", "--modes", "single,quorum3"}, {"--lab", "sentinel", "--faults", "crash"}, {"--runs-of", "flood=3"}, {"--lab", "sentinels"},
	} {
		code, _, stderr := call(t.Context(), append([]string{"compare"}, wrong...)...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, error %q", wrong, code, stderr)
		}
	}
}

// TestCompareLocalDefaults: fewer runs of fewer faults, since each takes seconds.
func TestCompareLocalDefaults(t *testing.T) {
	c := compareCommand{Modes: strings.Split(defaultModes, ","), Seed: 1, TTL: new(2 * time.Second), Candidates: 3, Lab: "local"}
	p, err := c.plan()
	if err != nil || p.Runs != localRuns || strings.Join(p.Faults, ",") != localFaults {
		t.Errorf("plan is %+v, %v", p, err)
	}
	if got, want := c.command(p), self()+" compare --lab local"; got != want {
		t.Errorf("command is %q, want %q", got, want)
	}
	c.Quick = true
	if p, err = c.plan(); err != nil || p.Runs != localQuick {
		t.Errorf("quick plan is %+v, %v", p, err)
	}
}
