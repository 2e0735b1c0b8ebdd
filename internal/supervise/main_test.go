//go:build linux || darwin

package supervise_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"incumbent/internal/supervise"
)

// TestMain lets the test binary be the programs that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "watchdog":
			os.Exit(supervise.Watchdog())
		case "agent":
			agent()
		case "beat":
			beat(os.Args[2:])
		case "hear":
			hear(os.Args[2])
		case "argv":
			argv()
		}
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // for the programs, each of which would wait for a second
	goleak.VerifyTestMain(m)
}

// setup is what an agent process gets.
type setup struct {
	Path   string
	Args   []string
	Timing supervise.Timing
	Lease  time.Duration // how far ahead each deadline is
}

// said is a line that an agent writes.
type said struct {
	Deadline supervise.Instant `json:",omitempty"` // of the command from now on, at the latest
	Watchdog int               `json:",omitempty"`
	Ended    bool              `json:",omitempty"` // nothing of it is left
	Err      string            `json:",omitempty"`
}

// agent runs a command and moves its deadline until it reads "hold", or a line with the
// number of a signal with which to stop it.
func agent() {
	var s setup
	in := json.NewDecoder(os.Stdin)
	if err := in.Decode(&s); err != nil {
		os.Exit(3)
	}
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(io.MultiReader(in.Buffered(), os.Stdin))
	heard := make(chan string)
	go func() {
		for lines.Scan() {
			if text := lines.Text(); text != "" {
				heard <- text
			}
		}
	}()
	deadline := supervise.Now().Add(s.Lease)
	c, err := supervise.Start(supervise.Options{
		Path: s.Path, Args: s.Args, Deadline: deadline, Timing: s.Timing, Watchdog: []string{"watchdog"},
		Stdout: os.Stderr, Stderr: os.Stderr, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		_ = out.Encode(said{Err: err.Error()})
		os.Exit(3)
	}
	_ = out.Encode(said{Deadline: deadline, Watchdog: c.WatchdogPID()})
	tick := time.NewTicker(s.Lease / 5)
	for {
		select {
		case <-c.Done():
			x := said{Ended: true}
			if err := c.Result().Err; err != nil {
				x.Err = err.Error()
			}
			_ = out.Encode(x)
			os.Exit(0)
		case <-tick.C:
			deadline = supervise.Now().Add(s.Lease)
			_ = out.Encode(said{Deadline: deadline}) // before it counts
			c.Extend(deadline)
		case text := <-heard:
			var n int
			if _, err := fmt.Sscan(text, &n); err == nil {
				c.Stop(syscall.Signal(n))
			} else {
				tick.Stop()
			}
		}
	}
}

// beat writes a line with the time and its own number to a file, every few
// milliseconds. Further arguments: deaf ignores signals, hidden keeps other users' processes
// from looking at it, child starts another one like
// it without the arguments up to here, apart does so in a session of its own and leaves
// it an orphan.
func beat(args []string) {
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		os.Exit(3)
	}
	for i, a := range args[1:] {
		rest := append([]string{"beat", args[0]}, args[i+2:]...)
		switch a {
		case "deaf":
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
			continue
		case "hidden":
			hide()
			continue
		case "child", "apart":
			cmd := exec.Command(os.Args[0], rest...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: a == "apart"}
			if cmd.Start() != nil {
				os.Exit(3)
			}
		case "quit":
			os.Exit(7)
		}
		break
	}
	for {
		_, _ = fmt.Fprintf(f, "%d %d\n", supervise.Now(), os.Getpid())
		time.Sleep(2 * time.Millisecond)
	}
}

// hear tells the first signal that it gets, and has a child that does so, too.
func hear(name string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	var child *exec.Cmd
	if name == "parent" {
		child = exec.Command(os.Args[0], "hear", "child")
		child.Stdout = os.Stdout
		if child.Start() != nil {
			os.Exit(3)
		}
	}
	fmt.Println("ready")
	fmt.Println(name, <-signals)
	if child != nil {
		_ = child.Wait()
	}
	os.Exit(5)
}

// argv writes its arguments, each as Go has it.
func argv() {
	for _, a := range os.Args {
		fmt.Printf("%q\n", a)
	}
	os.Exit(0)
}

// shell is a command for sh.
func shell(script string) []string { return []string{"sh", "-c", script} }

// must finds a program.
func must(t *testing.T, name string) string {
	t.Helper()
	path, err := supervise.Look(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// usual is the timing of tests that are not about it.
var usual = supervise.Timing{StepDown: 500 * time.Millisecond, Grace: 20 * time.Second}

// launch starts a command in this process, with a deadline that is not reached.
func launch(t *testing.T, out *os.File, timing supervise.Timing, args ...string) *supervise.Command {
	t.Helper()
	c, err := supervise.Start(supervise.Options{
		Path: must(t, args[0]), Args: args, Stdout: out, Stderr: os.Stderr, Env: []string{"INCUMBENT_TOKEN=42"},
		Deadline: supervise.Now().Add(time.Minute), Timing: timing, Watchdog: []string{"watchdog"},
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Kill(); <-c.Done() })
	return c
}

// collect runs a command to its end and returns what it wrote.
func collect(t *testing.T, args ...string) (string, supervise.Result) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := launch(t, w, usual, args...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), c.Result()
}

// lines reads lines of what a command writes, one at a time.
func lines(t *testing.T, timing supervise.Timing, args ...string) (*supervise.Command, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	c := launch(t, w, timing, args...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(r)
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return strings.TrimSuffix(text, "\n")
}
