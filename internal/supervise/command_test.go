//go:build linux || darwin

package supervise_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"incumbent/internal/supervise"
)

// E12: what a command ends with is what is reported.
func TestExitStatus(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   int
	}{
		{"exit 0", 0}, {"exit 1", 1}, {"exit 2", 2}, {"exit 127", 127}, {"exit 255", 255},
		{"kill -SEGV $$", 128 + 11}, {"kill -KILL $$", 128 + 9}, {"kill -TERM $$", 128 + 15},
	} {
		_, r := collect(t, shell(tt.script)...)
		if r.Err != nil || r.Status == nil || r.Status.ExitCode() != tt.want || r.Asked != supervise.Itself || r.Killed {
			t.Errorf("%s: %+v, status %v, want %d", tt.script, r, r.Status, tt.want)
		}
	}
}

func TestStatusInWords(t *testing.T) {
	for want, s := range map[string]supervise.Status{"exit status 3": {Code: 3}, "signal 9 (killed)": {Signal: syscall.SIGKILL}} {
		if s.String() != want {
			t.Errorf("%+v is %q, want %q", s, s, want)
		}
	}
}

// E12: what cannot be run is told apart as a shell does, found by looking or by trying.
func TestCannotRun(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		name, path  string
		look, start int // exit codes; 0 means that it is found
	}{
		{"no such name", "no-such-program-anywhere", supervise.NotFound, supervise.NotFound},
		{"no such file", dir + "/none", supervise.NotFound, supervise.NotFound},
		{"not executable", file("plain", "#!/bin/sh\n", 0o644), supervise.CannotExecute, supervise.CannotExecute},
		{"a folder", dir, supervise.CannotExecute, supervise.CannotExecute},
		{"below a file", file("flat", "", 0o755) + "/x", supervise.CannotExecute, supervise.CannotExecute},
		{"no program", file("text", "echo hello\n", 0o755), 0, supervise.CannotExecute},
		{"no interpreter", file("lost", "#!/no/such/interpreter\n", 0o755), 0, supervise.NotFound},
	} {
		_, err := supervise.Look(tt.path)
		if got := startCode(err); got != tt.look {
			t.Errorf("%s: looking gives %d (%v), want %d", tt.name, got, err, tt.look)
		}
		c, err := supervise.Start(supervise.Options{
			Path: tt.path, Args: []string{tt.path}, Deadline: supervise.Now().Add(time.Minute), Timing: usual, Watchdog: []string{"watchdog"},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := c.Result()
		if got := startCode(r.Err); got != tt.start || r.Status != nil {
			t.Errorf("%s: starting gives %d (%v), want %d", tt.name, got, r.Err, tt.start)
		}
	}
	err := &supervise.StartError{Name: "text", Err: syscall.ENOEXEC}
	if !strings.Contains(err.Error(), "#!/bin/sh") || !strings.Contains(err.Error(), `"text"`) {
		t.Errorf("no remedy: %v", err)
	}
}

func startCode(err error) int {
	var s *supervise.StartError
	if errors.As(err, &s) {
		return s.ExitCode()
	}
	return 0
}

// E13: nobody reads the arguments on their way.
func TestArgumentsUntouched(t *testing.T) {
	args := []string{os.Args[0], "argv", "two words", "$HOME", "`id`", "a;b|c&d", "*", "", "'\"\\", "\xff\xfe", "new\nline", "--", "-x", "ä"}
	text, r := collect(t, args...)
	want := ""
	for _, a := range args {
		want += fmt.Sprintf("%q\n", a)
	}
	if text != want || r.Status == nil || r.Status.Code != 0 {
		t.Errorf("got %s, want %s", text, want)
	}
}

// The command gets the environment and three files, no pipe of its watchdog, and is first
// in a group of its own.
func TestWhatACommandGets(t *testing.T) {
	t.Setenv("INCUMBENT_TOKEN", "41")
	text, _ := collect(t, shell(`echo "$INCUMBENT_TOKEN $PATH"; for i in 3 4 5 6 7 8 9; do if (: <&$i) 2>/dev/null; then echo "open: $i"; fi; done; ps -o pgid= -p $$ | tr -d ' '; echo $$`)...)
	got := strings.Split(strings.TrimSpace(text), "\n")
	if len(got) != 3 || got[0] != "42 "+os.Getenv("PATH") || got[1] != got[2] {
		t.Errorf("got %q", got)
	}
}

// E09, E13: a signal reaches the whole group, so a shell in the middle swallows none.
func TestWholeGroupIsSignalled(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		c, out := lines(t, usual, os.Args[0], "hear", "parent")
		if a, b := line(t, out), line(t, out); a != "ready" || b != "ready" {
			t.Fatal(a, b)
		}
		c.Stop(sig)
		heard := map[string]bool{line(t, out): true, line(t, out): true}
		r := c.Result()
		if !heard[fmt.Sprint("parent ", sig)] || !heard[fmt.Sprint("child ", sig)] || r.Status == nil || r.Status.Code != 5 || r.Asked != supervise.Told || r.Killed {
			t.Errorf("%v: heard by %v, %+v, status %v", sig, heard, r, r.Status)
		}
	}
}

// E13: the shell, its trap, and a worker in the background.
func TestShellInTheMiddle(t *testing.T) {
	c, out := lines(t, usual, shell(`trap 'echo shell; wait $w; exit 5' TERM
		sh -c "trap 'echo worker; exit 0' TERM; echo ready; while :; do sleep 0.01; done" & w=$!
		wait $w; wait $w`)...)
	line(t, out)
	c.Stop(syscall.SIGTERM)
	heard := map[string]bool{line(t, out): true, line(t, out): true}
	if r := c.Result(); !heard["shell"] || !heard["worker"] || r.Status == nil || r.Status.Code != 5 || r.Killed {
		t.Errorf("heard by %v, %+v, status %v", heard, r, r.Status)
	}
}

// Signals that do not ask for an end are passed on, too.
func TestSignalIsPassedOn(t *testing.T) {
	c, out := lines(t, usual, shell(`trap 'echo one' USR1; trap 'echo two; exit 0' USR2; echo ready; while :; do sleep 0.01; done`)...)
	line(t, out)
	c.Signal(syscall.SIGUSR1)
	one := line(t, out)
	c.Signal(syscall.SIGUSR2)
	if two, r := line(t, out), c.Result(); one != "one" || two != "two" || r.Asked != supervise.Itself {
		t.Errorf("heard %s, %s; %+v", one, two, r)
	}
}

// A second request is passed on as well.
func TestSecondStopIsPassedOn(t *testing.T) {
	c, out := lines(t, usual, shell(`trap 'echo int' INT; trap 'echo term; exit 3' TERM; echo ready; while :; do sleep 0.01; done`)...)
	line(t, out)
	c.Stop(syscall.SIGINT)
	one := line(t, out)
	c.Stop(syscall.SIGTERM)
	if two, r := line(t, out), c.Result(); one != "int" || two != "term" || r.Status.Code != 3 {
		t.Errorf("heard %s, %s; %+v", one, two, r)
	}
}

// The agent watches the same deadline: a command that its watchdog has asked to end gets no
// second signal for it, but one from a person.
func TestOneSignalForOneDeadline(t *testing.T) {
	c, out := lines(t, supervise.Timing{StepDown: 58 * time.Second, Margin: time.Second, Grace: time.Minute},
		shell(`trap 'echo term' TERM; trap 'echo winch' WINCH; echo ready; while :; do sleep 0.01; done`)...)
	line(t, out)
	if got := line(t, out); got != "term" {
		t.Fatal(got)
	}
	c.Stop(syscall.SIGTERM)
	c.Signal(syscall.SIGWINCH) // a shell that has heard both tells the lower number first
	if got := line(t, out); got != "winch" {
		t.Errorf("heard %s, want winch alone", got)
	}
	c.Stop(syscall.SIGTERM)
	if got := line(t, out); got != "term" {
		t.Errorf("heard %s", got)
	}
	c.Kill()
	if r := c.Result(); r.Asked != supervise.Deadline {
		t.Errorf("%+v", r)
	}
}

// A command that has ended, and whose leftovers have their grace, was not ended by what is
// asked then.
func TestAskedAfterItsEnd(t *testing.T) {
	timing := supervise.Timing{StepDown: time.Second, Margin: 20 * time.Millisecond, Grace: 700 * time.Millisecond}
	c, out := lines(t, timing, shell(`sh -c "trap '' TERM; echo ready; while :; do sleep 0.01; done" & read x < /dev/null; sleep 0.2; echo $$; exit 7`)...)
	line(t, out)
	pid := line(t, out)
	eventually(t, "it has ended", func() bool {
		var n int
		_, err := fmt.Sscan(pid, &n)
		return err == nil && supervise.IsDead(n)
	})
	c.Stop(syscall.SIGTERM)
	if r := c.Result(); r.Asked != supervise.Itself || r.Status == nil || r.Status.Code != 7 || !r.Killed {
		t.Errorf("%+v, status %v", r, r.Status)
	}
}

// Some variables are not for the command.
func TestVariablesLeftOut(t *testing.T) {
	t.Setenv("SUPERVISE_SECRET", "hunter2")
	t.Setenv("SUPERVISE_SECRET_FILE", "kept")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := supervise.Start(supervise.Options{
		Path: must(t, "sh"), Args: shell(`echo "$SUPERVISE_SECRET $SUPERVISE_SECRET_FILE"; ps eww $PPID`), Stdout: w, Stderr: os.Stderr, Without: []string{"SUPERVISE_SECRET"},
		Deadline: supervise.Now().Add(time.Minute), Timing: usual, Watchdog: []string{"watchdog"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	text, err := io.ReadAll(r)
	if err != nil || !strings.HasPrefix(string(text), " kept\n") || strings.Contains(string(text), "hunter2") {
		t.Errorf("%s, error %v", text, err)
	}
	c.Result()
}

// E09: who does not end within its grace is killed.
func TestGraceThenKill(t *testing.T) {
	for _, grace := range []time.Duration{100 * time.Millisecond, 0, -1} {
		// So wide a margin that it was certainly not the agent, in place of its watchdog.
		timing := supervise.Timing{StepDown: 20 * time.Second, Margin: 10 * time.Second, Grace: grace}
		c, out := lines(t, timing, shell(`trap '' TERM; echo ready; while :; do sleep 0.01; done`)...)
		line(t, out)
		began := supervise.Now()
		c.Stop(syscall.SIGTERM)
		r := c.Result()
		if took := supervise.Now().Sub(began); took < grace {
			t.Errorf("killed after %s of %s", took, grace)
		}
		if r.Err != nil || !r.Killed || r.Status == nil || r.Status.Signal != syscall.SIGKILL || r.Asked != supervise.Told {
			t.Errorf("grace %s: %+v, status %v", grace, r, r.Status)
		}
	}
}

func TestKillNeedsNoGrace(t *testing.T) {
	c, out := lines(t, usual, shell(`trap '' TERM; echo ready; while :; do sleep 0.01; done`)...)
	line(t, out)
	c.Kill()
	c.Kill()
	if r := c.Result(); !r.Killed || r.Status.Signal != syscall.SIGKILL || r.Asked != supervise.Told {
		t.Errorf("%+v", r)
	}
}

// A command that was stopped hears that it is to end.
func TestStoppedCommandEnds(t *testing.T) {
	c, out := lines(t, usual, shell(`trap 'exit 4' TERM; echo $$; kill -STOP $$; while :; do sleep 0.01; done`)...)
	line(t, out)
	c.Stop(syscall.SIGTERM)
	if r := c.Result(); r.Killed || r.Status == nil || r.Status.Code != 4 {
		t.Errorf("%+v, status %v", r, r.Status)
	}
}

// A command is gone before its deadline, deaf or not, unless that moves.
func TestDeadline(t *testing.T) {
	for _, deaf := range []string{"", "deaf"} {
		file := filepath.Join(t.TempDir(), "beats")
		deadline := supervise.Now().Add(3500 * time.Millisecond)
		c, err := supervise.Start(supervise.Options{
			Path: os.Args[0], Args: []string{os.Args[0], "beat", file, deaf}, Deadline: supervise.Now().Add(2 * time.Second),
			Timing: supervise.Timing{StepDown: time.Second, Margin: 100 * time.Millisecond, Grace: time.Minute}, Watchdog: []string{"watchdog"}, Stderr: os.Stderr,
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 { // the later ones while the first is on its way
			c.Extend(deadline.Add(time.Duration(i-4) * 10 * time.Millisecond))
		}
		r := c.Result()
		b := beats(t, file)
		if early := deadline.Sub(b.last); early <= 0 || early > 1400*time.Millisecond {
			t.Errorf("%q: the last sign of life is %s before the deadline", deaf, early)
		}
		if r.Asked != supervise.Deadline || r.Status == nil || r.Killed != (deaf != "") {
			t.Errorf("%q: %+v, status %v", deaf, r, r.Status)
		}
	}
}

func TestTooLate(t *testing.T) {
	c, err := supervise.Start(supervise.Options{
		Path: must(t, "true"), Args: []string{"true"}, Deadline: supervise.Now(), Timing: usual, Watchdog: []string{"watchdog"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Result(); !errors.Is(r.Err, supervise.ErrLate) || r.Status != nil {
		t.Errorf("%+v", r)
	}
	c.Extend(supervise.Now().Add(time.Hour))
	c.Stop(syscall.SIGTERM)
	c.Signal(syscall.SIGUSR1)
	c.Kill() // nothing of it hangs
}

// Whoever stops a service signals all of its processes: the watchdog stays.
func TestWatchdogIsDeaf(t *testing.T) {
	c, out := lines(t, usual, shell(`trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)...)
	line(t, out)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		if err := syscall.Kill(c.WatchdogPID(), sig); err != nil {
			t.Fatal(err)
		}
	}
	c.Stop(syscall.SIGTERM)
	if got, r := line(t, out), c.Result(); got != "bye" || r.Err != nil || r.Status.Code != 0 {
		t.Errorf("%s, %+v", got, r)
	}
}
