package dbproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	readyTimeout = 60 * time.Second // for a server on a busy machine
	stopGrace    = 5 * time.Second
	pollEvery    = 20 * time.Millisecond
	logLines     = 20 // of the server's log, shown by a failed test
)

// server is a process and its folder.
type server struct {
	name   string
	dir    string
	user   *account // nil: as this process
	cmd    *exec.Cmd
	exited chan struct{}
}

// newServer makes a folder that user can use. The path is short: a socket's may
// have about 100 bytes.
func newServer(tb testing.TB, name string, users ...string) *server {
	tb.Helper()
	user, err := findAccount(users...)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	dir, err := os.MkdirTemp("", "incumbent-db-")
	if err != nil {
		tb.Fatal(err)
	}
	s := &server{name: name, dir: dir, user: user}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("log of %s:\n%s", name, s.log())
		}
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	if err := user.own(dir); err != nil {
		tb.Fatal(err)
	}
	return s
}

// command is one that runs as the server's user and writes to its log.
func (s *server) command(binary string, args ...string) (*exec.Cmd, *os.File, error) {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC", "HOME="+s.dir)
	cmd.SysProcAttr = s.user.attr()
	return cmd, log, nil
}

// run runs a command to its end.
func (s *server) run(tb testing.TB, binary string, args ...string) {
	tb.Helper()
	cmd, log, err := s.command(binary, args...)
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s: %v", filepath.Base(binary), err)
	}
}

// start starts the server, waits until ready gives nil, and stops it when the
// test ends.
func (s *server) start(tb testing.TB, stop os.Signal, ready func(context.Context) error, binary string, args ...string) {
	tb.Helper()
	cmd, log, err := s.command(binary, args...)
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close() // the child has its own descriptor
	s.cmd, s.exited = cmd, make(chan struct{})
	started := make(chan error)
	go func() {
		// The kernel ends the child with the thread that forked it, not with the
		// process: so this one is kept for as long as the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the state says more than the error
			close(s.exited)
		}
	}()
	if err := <-started; err != nil {
		tb.Fatalf("%s: %v", s.name, err)
	}
	tb.Cleanup(func() { s.stop(tb, stop) })
	if err := s.await(tb.Context(), ready); err != nil {
		tb.Fatalf("%s is not ready: %v", s.name, err)
	}
}

func (s *server) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return errors.New("it has ended: " + s.cmd.ProcessState.String())
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// stop ends the process that was started, and no other.
func (s *server) stop(tb testing.TB, sig os.Signal) {
	// An error means that it has ended already.
	_ = s.cmd.Process.Signal(sig)
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-s.exited:
	case <-grace.C:
		tb.Logf("%s did not end within %s: killed", s.name, stopGrace)
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
}

// log gives the end of the server's log.
func (s *server) log() string {
	b, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}

// find looks for a binary in PATH and then in folders, which may be patterns:
// the last match is taken. Without one it skips the test, or fails it when the
// environment variable env is 1.
func find(tb testing.TB, binary, env, install string, folders ...string) string {
	tb.Helper()
	if path, err := exec.LookPath(binary); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return path
		}
	}
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(folder, binary))
		if err == nil && len(paths) > 0 {
			return slices.Max(paths)
		}
	}
	if os.Getenv(env) == "1" {
		tb.Fatalf("no %s found: install %s (%s=1 forbids to skip)", binary, install, env)
	}
	tb.Skipf("needs a real server, and no %s was found: install %s", binary, install)
	return ""
}
