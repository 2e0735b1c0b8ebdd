package process_test

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"incumbent/internal/process"
)

// A process that was reaped is never signalled again: its id may be another's.
func TestNoSignalAfterReap(t *testing.T) {
	p, err := process.Start(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if err := p.Signal(syscall.SIGTERM); !errors.Is(err, process.ErrEnded) {
		t.Errorf("signal after the end: %v, want %v", err, process.ErrEnded)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("kill after the end: %v", err)
	}
}

func TestTerminateKillsTheDeaf(t *testing.T) {
	cmd := exec.Command("sh", "-c", "trap '' TERM; echo deaf; exec tail -f /dev/null")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	if err := p.Terminate(1); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if !strings.Contains(p.State(), "killed") {
		t.Errorf("ended by %q, want a kill", p.State())
	}
}

func TestPauseAndResume(t *testing.T) {
	p, err := process.Start(exec.Command("tail", "-f", "/dev/null"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.AwaitState(true, 1); !errors.Is(err, process.ErrUnchanged) {
		t.Errorf("a process that runs: %v, want %v", err, process.ErrUnchanged)
	}
	if !p.Running() || p.PID() == 0 {
		t.Error("ended by a pause")
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if p.Running() || !errors.Is(p.Pause(), process.ErrEnded) {
		t.Error("runs after its end")
	}
}

func TestStartFails(t *testing.T) {
	if _, err := process.Start(exec.Command("/no/such/program")); err == nil {
		t.Error("started what is not there")
	}
}
