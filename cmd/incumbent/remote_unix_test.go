//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// TestRemoteInterrupt sends what Ctrl-C sends in the middle of a run: no key and no
// process is left, and it says so.
func TestRemoteInterrupt(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	path := endpointFile(t, s.Addr(), "ttl: 2s\n")
	cmd := exec.Command(build(t), "compare", "--lab", "remote", "--config", path, "--yes", "--faults", "pause", "--runs", "20")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	mark := "REMOTE_TEST=" + t.TempDir() // which all that it starts inherit
	cmd.Env = append(os.Environ(), "INCUMBENT_ID=somebody", mark)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid
	deadline := time.Now().Add(30 * time.Second)
	for !strings.Contains(strings.Join(keysAt(t, s.Addr()), " "), "-1}:lease") { // the first run has begun
		if time.Now().After(deadline) {
			t.Fatalf("no run begins: %s", &stderr)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(marked(mark)); n < 5 && runtime.GOOS == "linux" { // itself, who removes keys, three candidates
		t.Errorf("%d processes were seen", n)
	}
	if err := syscall.Kill(-group, syscall.SIGINT); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // the exit code is looked at below
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "none of this comparison is left") {
		t.Errorf("exit code %d, output %s, standard error %s", code, &stdout, &stderr)
	}
	if keys := keysAt(t, s.Addr()); len(keys) > 0 {
		t.Errorf("keys are left: %v", keys)
	}
	if err := syscall.Kill(-group, 0); err == nil {
		t.Error("a process of its group is left")
	}
	for end := time.Now().Add(10 * time.Second); len(marked(mark)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) { // who removes files ends after it, and soon
			t.Fatalf("processes are left: %v", marked(mark))
		}
	}
}

// marked lists the folders in /proc of processes with that variable, whatever group or
// parent they have. Where there is no /proc there are none.
func marked(variable string) (dirs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is a good one
	for _, dir := range all {
		environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // it may be gone, or somebody else's
		if slices.Contains(strings.Split(string(environ), "\x00"), variable) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
