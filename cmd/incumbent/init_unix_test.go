//go:build unix

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestInitBinary: what Ctrl-C sends ends the program by its own rules, and exit
// codes are those of the process.
func TestInitBinary(t *testing.T) {
	exe := build(t)
	addr, accepted := hung(t)
	cmd := exec.Command(exe, "init", "job", "--config", configFile(t, addr))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-accepted
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // the exit code is looked at below
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "interrupted") {
		t.Errorf("exit code %d, output %s", code, &out)
	}
	cmd = exec.Command(exe, "init", "job")
	if text, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(text), "mode: is missing") {
		t.Errorf("exit code %d, output %s", cmd.ProcessState.ExitCode(), text)
	}
}
