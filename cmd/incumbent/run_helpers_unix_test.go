//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/internal/supervise"
)

func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// runPatience is how long tests wait for what must come.
const runPatience = 60 * time.Second

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(runPatience); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within %s: %s", runPatience, what)
		}
	}
}

// runServer is a server for elections of any number of tests.
type runServer struct {
	*redisproc.Server
	client *redis.Client
}

func newRunServer(t *testing.T) runServer {
	t.Helper()
	s := redistest.StartT(t, redisproc.Options{})
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	return runServer{s, c}
}

// runConfig is a file for one address with a TTL of a second, where nobody has led yet: the
// server has just started.
func runConfig(t *testing.T, addr string, more ...string) string {
	t.Helper()
	text := "mode: single\nsingle: {address: '" + addr + "'}\nttl: 1s\nassume_new: true\nguards_off: restart\n" + strings.Join(more, "\n") + "\n"
	name := filepath.Join(t.TempDir(), "incumbent.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// program is a process of this program.
type program struct {
	*exec.Cmd
	ended chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
	out bytes.Buffer
}

// logWriter collects what the program writes to standard error.
type logWriter struct{ p *program }

func (w logWriter) Write(b []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	return w.p.log.Write(b)
}

func (p *program) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// launch starts the program. It is killed when the test ends.
func launch(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{Cmd: launchable(args...), ended: make(chan struct{})}
	p.Stdout, p.Stderr = &p.out, logWriter{p}
	p.start(t)
	return p
}

func launchable(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram, "GORACE=atexit_sleep_ms=0") // a race detector waits for a second otherwise
	return cmd
}

func (p *program) start(t *testing.T) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.Wait() // the code is looked at
	}()
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGCONT)
		_ = p.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second):
			_ = p.Process.Kill()
			<-p.ended
		}
		if t.Failed() {
			t.Logf("%v:\n%s", p.Args[1:], p.logged())
		}
	})
}

// code waits for the exit code.
func (p *program) code(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(runPatience):
		t.Fatalf("still runs:\n%s", p.logged())
	}
	return p.ProcessState.ExitCode()
}

func (p *program) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// saysSoon waits for a line of the log.
func (p *program) saysSoon(t *testing.T, text string) {
	t.Helper()
	eventually(t, "the log has "+text, func() bool { return strings.Contains(p.logged(), text) })
}

// beats is what a file of beats tells, so far.
type beats struct {
	first, last supervise.Instant
	pids        map[int]bool
	lasts       map[int]supervise.Instant // of each process
	tokens      []uint64                  // different ones, in order
}

func readBeats(file string) beats {
	b := beats{pids: map[int]bool{}, lasts: map[int]supervise.Instant{}}
	f, err := os.Open(file)
	if err != nil {
		return b
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var at supervise.Instant
		var pid int
		var token uint64
		if _, err := fmt.Sscan(lines.Text(), &at, &pid, &token); err != nil {
			continue // the last line may be incomplete
		}
		if b.first == 0 {
			b.first = at
		}
		b.first, b.last = min(b.first, at), max(b.last, at)
		b.pids[pid], b.lasts[pid] = true, at
		if !slices.Contains(b.tokens, token) {
			b.tokens = append(b.tokens, token)
		}
	}
	return b
}

// gone reports whether all of them are.
func (b beats) gone() bool {
	for pid := range b.pids {
		if !processGone(pid) {
			return false
		}
	}
	return true
}

// processGone reports whether there is no process of that number, or a dead one.
func processGone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := bytes.Cut(text, []byte(") "))
	return os.IsNotExist(err) || err == nil && ok && len(rest) > 0 && rest[0] == 'Z'
}

// awaitBeats waits until n processes have written to a file.
func awaitBeats(t *testing.T, file string, n int) beats {
	t.Helper()
	var b beats
	eventually(t, fmt.Sprintf("%d processes write", n), func() bool {
		b = readBeats(file)
		return len(b.pids) >= n
	})
	return b
}

// keys are those of an election at the server, without the record, which stays.
func (s runServer) keys(t *testing.T, election string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runPatience)
	defer cancel()
	keys, err := s.client.Keys(ctx, "incumbent:{"+election+"}:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(keys, func(k string) bool { return strings.HasSuffix(k, ":record") })
}

// free is an address on which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// childOf signals the only child of a process: an agent has none but its watchdog.
func childOf(parent int, sig syscall.Signal) error {
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		return err
	}
	var text []byte
	for _, name := range all { // any thread may have forked it
		b, _ := os.ReadFile(name) // or have ended
		text = append(text, b...)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		return fmt.Errorf("children %q: %w", text, err)
	}
	return syscall.Kill(pid, sig)
}
