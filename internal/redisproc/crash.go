package redisproc

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

var errAppendOnly = errors.New("an append-only file would be read in place of the snapshot")

// What a server has beside its snapshot: a folder, or before 7.0 one file.
const (
	logDir  = "appendonlydir"
	logFile = "appendonly.aof"
)

// Saved returns the content of the server's snapshot file, which SAVE writes; nil
// without one.
func (s *Server) Saved() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, s.wrap("read snapshot", ErrStopped)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, rdbName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, s.wrap("read snapshot", err)
}

// Crash ends the server with SIGKILL, if it still runs, and starts it again on the
// same port with a snapshot, as from Saved, in place of all that it stored; nil
// means with nothing. It returns when the server is ready. If it fails, the
// server does not run; the call may be repeated. ctx bounds the new start. A server
// with AOF has no use for snapshots: that is an error.
func (s *Server) Crash(ctx context.Context, snapshot []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return s.wrap("crash", ErrStopped)
	case s.opts.Persistence == AOF:
		return s.wrap("crash", errAppendOnly)
	}
	if err := s.run.Load().Kill(); err != nil {
		return s.wrap("crash", err)
	}
	if err := s.replaceData(snapshot); err != nil {
		return s.wrap("crash", err)
	}
	return s.wrap("crash", s.launch(ctx))
}

// CrashAppendOnly ends the server with SIGKILL, if it still runs, and starts it again on
// the same port with its append-only file, which it must have been told to write: CONFIG
// SET appendonly yes, and then some time, until INFO says that no rewrite is in progress.
// It returns when the server is ready, and goes on writing that file.
// If it fails, the server does not run. ctx bounds the new start.
func (s *Server) CrashAppendOnly(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return s.wrap("crash", ErrStopped)
	}
	if err := s.run.Load().Kill(); err != nil {
		return s.wrap("crash", err)
	}
	if err := s.keepLog(true); err != nil {
		return s.wrap("crash", err)
	}
	return s.wrap("crash", s.launch(ctx))
}

// keepLog says whether the server's next start reads an append-only file.
func (s *Server) keepLog(yes bool) error {
	if s.logged == yes || s.opts.Persistence == AOF {
		return nil
	}
	s.logged = yes
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	return s.writeConf(n)
}

// replaceData puts a snapshot in place of all that the server has on disk.
func (s *Server) replaceData(snapshot []byte) error {
	file := filepath.Join(s.dir, rdbName)
	for _, name := range []string{logDir, logFile, rdbName} {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	if err := s.keepLog(false); err != nil || snapshot == nil {
		return err
	}
	return os.WriteFile(file, snapshot, 0o600)
}
