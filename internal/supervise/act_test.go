//go:build linux || darwin

package supervise

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const ms = Instant(time.Millisecond)

// A process that was stopped hears its watchdog first: once for each deadline, and not as
// long as would let that pass.
func TestPatience(t *testing.T) {
	type look struct {
		at   Instant // in ms
		want bool
	}
	for name, tt := range map[string]struct {
		seen    Instant // in ms
		killing bool
		looks   []look
	}{
		"never stopped":      {9700, false, []look{{9799, false}, {9800, true}}},
		"told that it kills": {9700, true, []look{{9800, false}, {9899, false}, {9900, true}}},
		"stopped, woken":     {9000, false, []look{{9650, false}, {9800, false}, {9849, false}, {9850, true}}},
		"woken late":         {9000, false, []look{{9850, false}, {9899, false}, {9900, true}}},
		"stopped twice":      {9000, false, []look{{9400, false}, {9801, true}}},
		"past the deadline":  {9000, false, []look{{11000, false}, {11199, false}, {11200, true}}},
		"past it, twice":     {9000, false, []look{{11000, false}, {12000, true}}},
	} {
		c := Command{seen: tt.seen * ms, plan: plan{
			Timing: Timing{StepDown: 1500 * time.Millisecond, Margin: 400 * time.Millisecond}, deadline: 10000 * ms, killing: tt.killing,
		}}
		for _, l := range tt.looks {
			c.excuse(l.at * ms)
			if got := c.overdue(l.at * ms); got != l.want {
				t.Errorf("%s: at %d: %v", name, l.at, got)
			}
		}
	}
}

// A watchdog that was stopped after its last word is not left behind.
func TestPartKillsTheWatchdog(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	c := Command{proc: exec.Command("sleep", "600"), pipe: w, calls: make(chan func()), done: make(chan struct{})}
	if err := c.proc.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.proc.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	go c.Stop(syscall.SIGTERM) // callers are not held up
	c.part()
	close(c.done)
	if s := c.proc.ProcessState; s == nil || s.ExitCode() != -1 {
		t.Errorf("the watchdog: %v", s)
	}
}

// What cannot be killed is not reported to an agent that does not read, nor is it killed
// again and again in a hurry.
func TestStuckHoldsNobodyUp(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	dog := watchdog{pipe: w, out: json.NewEncoder(w), plan: plan{killing: true}}
	dog.moan("first")
	fd := int(w.Fd())
	for _, blocking := range []bool{false, true} {
		if err := syscall.SetNonblock(fd, !blocking); err != nil {
			t.Fatal(err)
		}
		for !blocking {
			if _, err := syscall.Write(fd, make([]byte, 4096)); err != nil {
				break // full
			}
		}
	}
	dog.moaned = 0
	dog.moan("second")
	_ = w.Close()
	text, err := io.ReadAll(r)
	if want := "{\"stuck\":\"first\"}\n"; err != nil || len(text) < len(want) || string(text[:len(want)]) != want {
		t.Errorf("%.40q, error %v", text, err)
	}
	if dog.killed = Now(); dog.nap() != killNap {
		t.Errorf("it looks again after %s at first", dog.nap())
	}
	if dog.killed = Now().Add(-stuckAfter); dog.nap() != maxNap {
		t.Errorf("it looks again after %s later", dog.nap())
	}
}

// Once nobody listens, what a watchdog says holds up nobody.
func TestAnswersThatNobodyWants(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	answers := readAnswers(r, done)
	close(done)
	for range 2 * cap(answers) {
		_ = json.NewEncoder(w).Encode(answer{Gone: true}) // nobody may read it any more
	}
	for range answers { // until it is closed, which the reader does though the pipe is open
	}
	_ = w.Close()
}
