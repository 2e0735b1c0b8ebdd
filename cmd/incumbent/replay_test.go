package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/report"
)

func TestReplay(t *testing.T) {
	code, stdout, stderr := call(t.Context(), "replay", "7", "8", "--mode", "quorum3", "--fault", "pause-write", "--ttl", "1s")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d, error %q", code, stderr)
	}
	for _, want := range []string{
		"quorum3, pause-write, guards on, TTL 1s, 3 candidates, seed 7, virtual lab\n", "seed 8, virtual lab\n", "LEADS by token", "FAULT pause-write",
		"HEALED: pause-write", "REFUSED BY THE FENCE", "no rule is broken",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output lacks %q:\n%s", want, stdout)
		}
	}
	if _, again, _ := call(t.Context(), "replay", "7", "8", "--mode", "quorum3", "--fault", "pause-write", "--ttl", "1s"); again != stdout {
		t.Error("played again, it is another run")
	}
}

// TestReplayConditions: all flags reach the lab.
func TestReplayConditions(t *testing.T) {
	code, stdout, stderr := call(t.Context(), "replay", "1", "--fault", "crash", "--guards", "off", "--ttl", "4s", "--candidates", "4",
		"--renew", "1s", "--link", "wan", "--loss", "0.01", "--drift", "0.5")
	want := "single, crash, guards off, TTL 4s, 4 candidates, renewed every 1s, wan links, loss 0.01, drift 0.5 %"
	if code != exitOK || stderr != "" || !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
		t.Errorf("exit code %d, error %q, output\n%s", code, stderr, stdout)
	}
}

func TestReplayEvents(t *testing.T) {
	code, stdout, stderr := call(t.Context(), "replay", "3", "--fault", "crash", "--events")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d, error %q", code, stderr)
	}
	faults := 0
	for line := range strings.Lines(stdout) {
		var ev struct {
			Seed uint64 `json:"seed"`
			history.Event
		}
		if err := json.Unmarshal([]byte(line), &ev); err != nil || ev.Seed != 3 || ev.Actor == "" {
			t.Fatalf("%v: %s", err, line)
		}
		if ev.Kind == history.Fault {
			faults++
		}
	}
	if faults != 1 {
		t.Errorf("%d faults in\n%s", faults, stdout)
	}
	dir := t.TempDir()
	if code, _, stderr := call(t.Context(), "compare", "-q", "--modes", "single", "--faults", "crash", "--seed", "3", "--runs", "1", "--out", dir); code != exitOK {
		t.Fatalf("exit code %d, error %q", code, stderr)
	}
	if text, err := os.ReadFile(filepath.Join(dir, report.EventsFile)); err != nil || string(text) != stdout {
		t.Errorf("error %v: compare writes other lines than replay", err)
	}
}

func TestReplaySchedule(t *testing.T) {
	code, stdout, stderr := call(t.Context(), "replay", "1", "--schedule", "../../docs/examples/restart-during-pause.yaml")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d, error %q", code, stderr)
	}
	for _, want := range []string{"single, restart-during-pause, ", "steps: pause, restart-empty", "FAULT restart-empty"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output lacks %q:\n%s", want, stdout)
		}
	}
}

func TestReplayUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("name: x\nsteps:\n  - {fault: flood}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "SEED is missing"},
		{[]string{"one"}, "one"},
		{[]string{"1", "--mode", "quorum4"}, `replay: --mode: "quorum4": must be single, or quorum`},
		{[]string{"1", "--fault", "flood"}, `replay: --fault: "flood": must be of calm`},
		{[]string{"1", "--guards", "maybe"}, `replay: --guards: "maybe": must be of on, off`},
		{[]string{"1", "--link", "wan"}, "replay: --ttl: 2s: must be at least 3s on a link like wan"},
		{[]string{"1", "--schedule", bad}, "replay: --schedule: " + bad + `:3: steps[0].fault: "flood": must be one of`},
		{[]string{"1", "--schedule", bad + "x"}, "replay: --schedule: open"},
	} {
		code, stdout, stderr := call(t.Context(), append([]string{"replay"}, tt.args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "see incumbent replay --help") {
			t.Errorf("%v: exit code %d, output %q, error %q, want %q", tt.args, code, stdout, stderr, tt.want)
		}
	}
}

// TestReplayBroken: a run that breaks a rule is shown, and the exit code says so.
func TestReplayBroken(t *testing.T) {
	var out strings.Builder
	r := &replay{command: &replayCommand{}, out: &out}
	run := history.Run{
		Seed: 1, Mode: "single", Masters: 1, Fault: "crash", Guards: "on", Lab: "virtual", TTL: time.Second, Length: time.Second,
		Events: []history.Event{
			{At: 1, Actor: "a", Kind: history.TermStarted, Token: 2, Deadline: time.Second},
			{At: 2, Actor: "b", Kind: history.TermStarted, Token: 1, Deadline: time.Second},
		},
	}
	r.done(0, run, nil)
	if !r.broken || r.err != nil || !strings.Contains(out.String(), "BROKEN: tokens strictly increase") || !strings.Contains(out.String(), "OVERLAP: a believes") {
		t.Errorf("broken is %v, error %v, output\n%s", r.broken, r.err, out.String())
	}
}

func TestReplayInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, stdout, _ := call(ctx, "replay", "1"); code != exitInterrupted || stdout != "" {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
}
