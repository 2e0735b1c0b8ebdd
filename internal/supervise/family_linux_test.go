package supervise_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"incumbent/internal/supervise"
)

// E10: what a command leaves behind would work without the lease: it is ended before the
// command counts as gone, also what has a session of its own. The status is the command's.
func TestLeftoversAreEnded(t *testing.T) {
	for _, tt := range []struct {
		name        string
		apart, deaf bool
	}{
		{"in its group", false, false},
		{"in a session of its own", true, false},
		{"deaf", false, true},
		{"deaf, in a session of its own", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "beats")
			timing := supervise.Timing{StepDown: time.Second, Grace: 300 * time.Millisecond}
			// The first one starts a second one, and ends when that writes.
			script := `"$0" beat "$1" $2 child & until [ -s "$1" ]; do sleep 0.01; done; exit 7`
			deaf := ""
			if tt.apart {
				script = "setsid " + script
			}
			if tt.deaf {
				deaf = "deaf"
			}
			c := launch(t, os.Stderr, timing, "sh", "-c", script, os.Args[0], file, deaf)
			r := c.Result()
			if r.Err != nil || r.Status == nil || r.Status.Code != 7 || r.Asked != supervise.Itself || r.Killed != tt.deaf {
				t.Errorf("%+v, status %v", r, r.Status)
			}
			for pid := range beats(t, file).pids {
				if !isGone(pid) {
					t.Errorf("%d is left", pid)
				}
			}
		})
	}
}

// Every descendant hears the signal, and is killed: those too that started a session of
// their own, or whose parent has ended.
func TestDescendantsAreEnded(t *testing.T) {
	for _, args := range [][]string{{"child", "apart", "child"}, {"deaf", "child", "deaf", "apart", "deaf", "apart", "deaf"}} {
		file := filepath.Join(t.TempDir(), "beats")
		timing := supervise.Timing{StepDown: time.Second, Grace: 200 * time.Millisecond}
		want := 1
		for _, a := range args {
			if a == "child" || a == "apart" {
				want++
			}
		}
		c := launch(t, os.Stderr, timing, append([]string{os.Args[0], "beat", file}, args...)...)
		awaitBeats(t, file, want)
		c.Stop(syscall.SIGTERM)
		r := c.Result()
		if r.Killed != (args[0] == "deaf") {
			t.Errorf("%v: %+v", args, r)
		}
		for pid := range beats(t, file).pids {
			if !isGone(pid) {
				t.Errorf("%v: %d is left", args, pid)
			}
		}
	}
}

// A daemon, forked twice: its parent has ended long before the end comes.
func TestDaemonIsEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "beats")
	c := launch(t, os.Stderr, usual, "sh", "-c", `(setsid "$0" beat "$1" &); exec "$0" beat "$1"`, os.Args[0], file)
	awaitBeats(t, file, 2)
	c.Stop(syscall.SIGTERM)
	if r := c.Result(); r.Killed || r.Status == nil || r.Status.Signal != syscall.SIGTERM {
		t.Errorf("%+v, status %v", r, r.Status)
	}
	for pid := range beats(t, file).pids {
		if !isGone(pid) {
			t.Errorf("%d is left", pid)
		}
	}
}

// Orphans that end while the command runs are reaped.
func TestOrphansAreReaped(t *testing.T) {
	c, out := lines(t, usual, shell(`i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; echo $$; while :; do sleep 1; done`)...)
	pid, err := strconv.Atoi(line(t, out))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "only the command is left", func() bool {
		return slices.Equal(supervise.Children(c.WatchdogPID()), []int{pid})
	})
	c.Stop(syscall.SIGTERM)
	c.Result()
}

// A hang-up that is ignored at the start, as under nohup, stays so for the command.
func TestNohup(t *testing.T) {
	s, err := json.Marshal(setup{must(t, "grep"), []string{"grep", "SigIgn", "/proc/self/status"}, usual, time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]bool{"nohup": true, "env": signal.Ignored(syscall.SIGHUP)} {
		cmd := exec.Command(how, os.Args[0], "agent")
		cmd.Stdin = strings.NewReader(string(s) + "\n")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		var text strings.Builder
		cmd.Stderr = &text
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		var ignored uint64
		if _, err := fmt.Sscanf(text.String()[strings.Index(text.String(), "SigIgn"):], "SigIgn: %x", &ignored); err != nil {
			t.Fatalf("%s: %v", &text, err)
		}
		if got := ignored&1 != 0; got != want { // bit 0 is signal 1
			t.Errorf("under %s: hang-up ignored: %v", how, got)
		}
	}
}

// adversary does something to an agent or its watchdog while a command runs.
type adversary struct {
	name   string
	do     func(agent, watchdog int) error
	undo   func(agent, watchdog int)
	atOnce bool // whoever is not deaf ends at once, and not when its deadline comes near
	alive  bool // the agent lives and tells the result
	err    bool // it says that the watchdog failed
}

func kill(pid int, sig syscall.Signal) error { return syscall.Kill(pid, sig) }

// E10, E12, C02: whoever is killed or stopped, all of the command is gone before the last
// deadline, however deaf it is, and whatever it has started.
func TestGoneBeforeTheDeadline(t *testing.T) {
	for _, a := range []adversary{
		{name: "agent tells nothing more", do: func(int, int) error { return nil }, alive: true},
		{name: "agent killed", atOnce: true, do: func(agent, _ int) error { return kill(agent, syscall.SIGKILL) }},
		{name: "agent stopped", do: func(agent, _ int) error { return kill(agent, syscall.SIGSTOP) },
			undo: func(agent, _ int) { _ = kill(agent, syscall.SIGCONT) }, alive: true},
		{name: "watchdog killed", atOnce: true, do: func(_, dog int) error { return kill(dog, syscall.SIGKILL) }, alive: true, err: true},
		{name: "watchdog stopped", do: func(_, dog int) error { return kill(dog, syscall.SIGSTOP) }, alive: true, err: true},
	} {
		for _, deaf := range []bool{false, true} {
			name := a.name
			if deaf {
				name += ", command deaf"
			}
			t.Run(name, func(t *testing.T) { a.play(t, deaf) })
		}
	}
}

func (a adversary) play(t *testing.T, deaf bool) {
	file := filepath.Join(t.TempDir(), "beats")
	args := []string{os.Args[0], "beat", file, "child", "apart", "child"}
	if deaf {
		args = []string{os.Args[0], "beat", file, "deaf", "child", "deaf", "apart", "deaf", "child", "deaf"}
	}
	// The margin is wide: a race detector on a busy machine is slow.
	timing := supervise.Timing{StepDown: 900 * time.Millisecond, Margin: 600 * time.Millisecond, Grace: 20 * time.Second}
	s, err := json.Marshal(setup{os.Args[0], args, timing, 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "agent")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	if _, err := in.Write(append(s, '\n')); err != nil {
		t.Fatal(err)
	}
	out := make(chan said, 1000)
	go func() {
		defer close(out)
		for d := json.NewDecoder(pipe); ; {
			var x said
			if d.Decode(&x) != nil {
				return
			}
			out <- x
		}
	}()
	first := <-out
	awaitBeats(t, file, 4)
	if err := a.do(cmd.Process.Pid, first.Watchdog); err != nil {
		t.Fatal(err)
	}
	if a.undo == nil && a.alive && !a.err {
		_, _ = in.Write([]byte("hold\n"))
	}
	pids := beatsSoFar(file)
	eventually(t, "all of the command is gone", func() bool {
		for pid := range pids {
			if !isGone(pid) {
				return false
			}
		}
		return true
	})
	deadline, last := first.Deadline, first
	for n := len(out); n > 0; n-- { // what was said so far: the agent may go on
		last = <-out
		deadline = max(deadline, last.Deadline)
	}
	if a.undo != nil {
		a.undo(cmd.Process.Pid, first.Watchdog)
	}
	for last = range out { // to the last one
	}
	b := beats(t, file)
	switch early := deadline.Sub(b.last); {
	case early <= 0:
		t.Errorf("the last sign of life is %s after the deadline", -early)
	case a.atOnce && !deaf && early <= timing.StepDown:
		t.Errorf("ended only %s before the deadline", early)
	default:
		t.Logf("the last sign of life is %s before the deadline", early.Round(time.Millisecond))
	}
	if len(b.pids) != 4 {
		t.Errorf("%d processes, want 4", len(b.pids))
	}
	if last.Ended != a.alive || (last.Err != "") != a.err {
		t.Errorf("the agent says %+v", last)
	}
}

// A full pipe holds up the command, and nobody else.
func TestFullPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	c := launch(t, w, usual, shell(`trap '' TERM; while :; do echo 0123456789012345678901234567890123456789; done`)...)
	defer func() { _ = w.Close() }()
	eventually(t, "the pipe is full", func() bool {
		n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		return err == nil && n > 60000 // some of each page stays empty
	})
	c.Stop(syscall.SIGTERM)
	c.Kill()
	if r := c.Result(); r.Status == nil || r.Status.Signal != syscall.SIGKILL {
		t.Errorf("%+v", r)
	}
}
