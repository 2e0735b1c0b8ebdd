package redisproc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

var errAppendOnly = errors.New("an append-only file would be read in place of the snapshot")

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
	file := filepath.Join(s.dir, rdbName)
	var err error
	if snapshot == nil {
		if err = os.Remove(file); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	} else {
		err = os.WriteFile(file, snapshot, 0o600)
	}
	if err != nil {
		return s.wrap("crash", err)
	}
	return s.wrap("crash", s.launch(ctx))
}
