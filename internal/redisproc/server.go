package redisproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"incumbent/internal/process"
)

const (
	startTries   = 10               // how often a port may be lost to somebody else
	stopGrace    = 2 * time.Second  // the data is thrown away anyway
	restartGrace = 20 * time.Second // time to write a snapshot
)

// Server is a server process that this package started. Its methods may be
// called from several goroutines; those that change its state take turns.
type Server struct {
	opts    Options
	binary  string
	dir     string
	addr    string
	secrets []string

	run atomic.Pointer[process.Process] // the latest run

	mu      sync.Mutex // held while the state changes; guards what follows
	stopped bool
	logged  bool   // it reads an append-only file though Options.Persistence says otherwise
	tail    string // the log, once its file is gone
}

// Start runs a server and returns when it is ready: when PING is answered, be
// it by NOAUTH. ctx bounds only the start; the server runs until Stop. A port
// that somebody takes between choice and use is replaced by another, unless
// Options.Port names it.
func Start(ctx context.Context, o Options) (*Server, error) { return start(ctx, o, freePort) }

// start is Start with a way to choose a port that tests replace.
func start(ctx context.Context, o Options, pick func(cluster bool) (int, error)) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	binary, err := findBinary(o.Binary)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "incumbent-redis-")
	if err != nil {
		return nil, &Error{Op: "start", Err: err, Remedy: "set Options.Dir to a writable folder"}
	}
	s := &Server{opts: o, binary: binary, dir: dir}
	if err := s.firstStart(ctx, pick); err != nil {
		return nil, s.wrap("start", and(err, os.RemoveAll(dir)))
	}
	return s, nil
}

// FindBinary returns the path of redis-server, or else of valkey-server, or an
// error that is ErrNoBinary and names the remedy.
func FindBinary() (string, error) { return findBinary("") }

// LookPath is FindBinary for a path, or a name in PATH, as in Options.Binary; "" means
// either of the two.
func LookPath(name string) (string, error) { return findBinary(name) }

func findBinary(name string) (string, error) {
	names := []string{"redis-server", "valkey-server"}
	remedy := "install the package redis-server or valkey-server, or set Options.Binary"
	cause := ErrNoBinary
	if name != "" {
		names = []string{name}
		remedy = "set Options.Binary to an executable, or leave it empty"
	}
	for _, n := range names {
		path, err := exec.LookPath(n)
		if err == nil {
			return filepath.Abs(path) // the command must not depend on the working folder
		}
		if name != "" {
			cause = fmt.Errorf("%w: %w", ErrNoBinary, err)
		}
	}
	return "", &Error{Op: "find server", Err: cause, Remedy: remedy}
}

func (s *Server) firstStart(ctx context.Context, pick func(cluster bool) (int, error)) error {
	acl, err := s.copyACL()
	if err != nil {
		return err
	}
	s.secrets = s.opts.secrets(acl)
	for range startTries {
		port := s.opts.Port
		if port == 0 {
			if port, err = pick(s.opts.Cluster); err != nil {
				return err
			}
		}
		s.addr = fmt.Sprintf("127.0.0.1:%d", port)
		if err = s.writeConf(port); err != nil {
			return err
		}
		err = s.launch(ctx)
		if !errors.Is(err, ErrPortInUse) || s.opts.Port != 0 {
			return err
		}
	}
	return err
}

func (s *Server) copyACL() (string, error) {
	if s.opts.ACLFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(s.opts.ACLFile)
	if err != nil {
		return "", err
	}
	return string(b), os.WriteFile(filepath.Join(s.dir, aclName), b, 0o600)
}

// launch runs the binary once and waits until it is ready.
func (s *Server) launch(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own descriptor
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	cmd := exec.Command(s.binary, filepath.Join(s.dir, confName))
	if s.opts.Sentinel != nil {
		cmd.Args = append(cmd.Args, "--sentinel")
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	if len(s.opts.Env) > 0 {
		cmd.Env = append(os.Environ(), s.opts.Env...)
	}
	p, err := process.Start(cmd)
	if err != nil {
		return err
	}
	if err := s.awaitReady(ctx, p, from); err != nil {
		return and(err, p.Kill())
	}
	s.run.Store(p)
	return nil
}

func (s *Server) readyTimeout() time.Duration {
	if s.opts.ReadyTimeout == 0 {
		return defaultReadyTimeout
	}
	return s.opts.ReadyTimeout
}

// Addr returns the host:port of the server; it never changes.
func (s *Server) Addr() string { return s.addr }

// Dir returns the folder with the server's data. Stop removes it.
func (s *Server) Dir() string { return s.dir }

// PID returns the id of the running process, or 0 when none runs.
func (s *Server) PID() int {
	if p := s.run.Load(); p.Running() {
		return p.PID()
	}
	return 0
}

// Exited returns a channel that is closed when the present run of the server
// has ended, for whatever reason. After Restart ask again.
func (s *Server) Exited() <-chan struct{} { return s.run.Load().Exited() }

// LogTail returns the last n lines of the server's log that are not blank,
// without secrets. It works after Stop too.
func (s *Server) LogTail(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.tail
	if !s.stopped {
		log = s.readLog(0)
	}
	return strings.Join(lastLines(log, n), "\n")
}

// Kill ends the server with SIGKILL, as a crash does, and returns when the
// process is gone. A server that does not run is left as it is.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrap("kill", s.run.Load().Kill())
}

// Pause stops the process with SIGSTOP: connections stay open and nobody
// answers. It returns once the kernel says that the process is stopped.
func (s *Server) Pause() error { return s.shift("pause", (*process.Process).Pause) }

// Resume continues a paused process, and returns once it is no longer stopped.
func (s *Server) Resume() error { return s.shift("resume", (*process.Process).Resume) }

// shift changes the state of the running process.
func (s *Server) shift(op string, f func(*process.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.run.Load()
	if err := s.alive(p); err != nil {
		return s.wrap(op, err)
	}
	err := f(p)
	if errors.Is(err, process.ErrEnded) {
		err = ErrNotRunning
	}
	return s.wrap(op, err)
}

func (s *Server) alive(p *process.Process) error {
	if s.stopped {
		return ErrStopped
	}
	if !p.Running() {
		return ErrNotRunning
	}
	return nil
}

// Restart ends the server in an orderly way if it still runs, paused or not, and
// starts it again on the same port with what Persistence has kept. It returns
// when the server is ready. If it fails, the server does not run; the call may
// be repeated. ctx bounds the new start.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return s.wrap("restart", ErrStopped)
	}
	if err := s.run.Load().Terminate(restartGrace); err != nil {
		return s.wrap("restart", err)
	}
	if s.opts.Persistence == None {
		// A SAVE or a replication may have left a snapshot all the same.
		if err := os.Remove(filepath.Join(s.dir, rdbName)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return s.wrap("restart", err)
		}
	}
	return s.wrap("restart", s.launch(ctx))
}

// Stop ends the server with SIGTERM, after a grace period with SIGKILL, and
// removes its folder. It may be called more than once.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	if err := s.run.Load().Terminate(stopGrace); err != nil {
		return s.wrap("stop", err)
	}
	s.tail = s.readLog(0)
	s.stopped = true
	return s.wrap("stop", os.RemoveAll(s.dir))
}

// wrap makes an error of this server one line with the operation, the address
// and the remedy.
func (s *Server) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Addr: s.addr, Err: err, Remedy: remedy(err)}
}

// and is errors.Join on one line.
func and(err, second error) error {
	if second == nil {
		return err
	}
	return fmt.Errorf("%w; then %w", err, second)
}

func remedy(err error) string {
	switch {
	case errors.Is(err, ErrPortInUse):
		return "stop the process that listens there, or choose another port"
	case errors.Is(err, ErrExited):
		return "see what the server says, and check Options.Args"
	case errors.Is(err, ErrNotReady):
		return "raise Options.ReadyTimeout if the machine is slow"
	case errors.Is(err, ErrNotRunning):
		return "call Restart first"
	case errors.Is(err, ErrStopped):
		return "start a new server"
	}
	return ""
}
