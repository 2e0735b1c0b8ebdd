//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"incumbent/compare/report"
)

// build builds the program as a user does.
func build(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "incumbent")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exe
}

// TestBuiltBinary: bubbles also work outside of go test.
func TestBuiltBinary(t *testing.T) {
	cmd := exec.Command(build(t), tiny()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 || !strings.Contains(string(out), "2 runs a cell") {
		t.Errorf("error %v, output %s, standard error %s", err, out, &stderr)
	}
}

// TestInterrupt sends what Ctrl-C sends, and what a terminal sends that is closed, to the
// child processes too, once the first run is done.
func TestInterrupt(t *testing.T) {
	exe := build(t)
	for _, sig := range interrupts() { // without the hang-up where it is ignored, as under nohup
		t.Run(fmt.Sprint(sig), func(t *testing.T) { interrupt(t, exe, sig.(syscall.Signal)) })
	}
}

func interrupt(t *testing.T, exe string, sig syscall.Signal) {
	dir := t.TempDir()
	cmd := exec.Command(exe, "compare", "--faults", "leader", "--runs", "100000", "--out", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(first, " runs (0%)") {
		t.Errorf("first line is %q, error %v", first, err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
		t.Error(err)
	}
	ended := make(chan struct{})
	var again sync.WaitGroup
	again.Go(func() { repeatSignal(-cmd.Process.Pid, sig, ended) })
	rest, _ := io.ReadAll(lines)
	close(ended)
	again.Wait()
	_ = cmd.Wait() // the exit code is looked at below
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stdout.String(), "INCOMPLETE: interrupted when ") {
		t.Errorf("exit code %d, output %s, standard error %s", code, &stdout, rest)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("error %v, half-written files %v", err, left)
	}
	text, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Complete bool
		Cells    []struct{ Runs int }
	}
	if err := json.Unmarshal(text, &summary); err != nil || summary.Complete || len(summary.Cells) == 0 {
		t.Errorf("error %v, summary %s", err, text)
	}
}

// repeatSignal sends a signal more often within the moment in which that must be the same
// as once, until the process has ended.
func repeatSignal(pid int, sig syscall.Signal, ended <-chan struct{}) {
	for range 50 {
		select {
		case <-ended:
			return
		case <-time.After(moment / 200):
			_ = syscall.Kill(pid, sig) // it may have ended just now
		}
	}
}
