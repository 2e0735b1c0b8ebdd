package local

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// program writes an executable that stands in for a server.
func program(t *testing.T, name, body string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	noErr(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), mode))
	return path
}

// TestBrokenBinary: whatever is wrong with the server program, it is one clear line,
// nothing is played, and nothing is left.
func TestBrokenBinary(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	junk := program(t, "redis-server", "", 0o700)
	noErr(t, os.WriteFile(junk, []byte{0, 1, 2}, 0o700))
	for _, tt := range []struct {
		name, path string
		is         error
		want       string
	}{
		{"missing", filepath.Join(t.TempDir(), "none"), redisproc.ErrNoBinary, "no such file"},
		{"not executable", program(t, "redis-server", "exit 0", 0o600), redisproc.ErrNoBinary, "permission denied"},
		{"a folder", t.TempDir(), redisproc.ErrNoBinary, "is a directory"},
		{"not a program", junk, syscall.ENOEXEC, "does not work"},
		{"prints and exits", program(t, "redis-server", "echo no such option; exit 3", 0o700), redisproc.ErrExited, "(exit status 3): no such option: it must be"},
		{"exits without a word", program(t, "redis-server", "exit 0", 0o700), redisproc.ErrExited, "it said nothing"},
		{"prints without end", program(t, "redis-server", "exec yes", 0o700), redisproc.ErrNotReady, "without end"},
		{"hangs", program(t, "redis-server", "exec tail -f /dev/null", 0o700), redisproc.ErrNotReady, "did not become ready in time"},
		{"says that it is ready", program(t, "redis-server", "echo Server initialized; exec tail -f /dev/null", 0o700), redisproc.ErrNotReady, "ready in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Player{ServerBinary: tt.path, patience: 2 * time.Second}
			err := p.Play(t.Context(), []Spec{{Mode: "single", Masters: 1, Fault: "crash", TTL: time.Second, Candidates: 2}}, nil)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") ||
				!strings.Contains(err.Error(), tt.path) {
				t.Errorf("error is %v", err)
			}
			t.Log(err)
		})
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestStartIsCalledOff: a server program that hangs does not keep an interrupt waiting.
func TestStartIsCalledOff(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	p := Player{ServerBinary: program(t, "redis-server", "exec tail -f /dev/null", 0o700), patience: time.Minute}
	err := p.Play(ctx, []Spec{{Mode: "single", Masters: 1, Fault: "crash", TTL: time.Second, Candidates: 2}}, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

// TestValkey plays with a server program of that name, named or found.
func TestValkey(t *testing.T) {
	server := redistest.Require(t)
	path := program(t, "valkey-server", "exec "+server+` "$@"`, 0o700)
	t.Setenv("PATH", filepath.Dir(path))
	for _, name := range []string{"", "valkey-server", path} {
		p := Player{ServerBinary: name, Stderr: os.Stderr}
		noErr(t, p.Ready())
		spec := Spec{Mode: "single", Masters: 1, Fault: "restart-empty", TTL: 500 * time.Millisecond, Candidates: 2}
		noErr(t, p.Play(t.Context(), []Spec{spec}, func(_ int, run history.Run, err error) {
			if err != nil || len(run.Events) == 0 {
				t.Errorf("%q: %d events, %v", name, len(run.Events), err)
			}
		}))
	}
}

// TestPortInUse: a master that cannot come back since somebody has taken its port is one
// clear line, and does not end with the run.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{Candidates: 1})
	noErr(t, l.Stop(0))
	taken, err := net.Listen("tcp", l.places[0].primary.addr)
	noErr(t, err)
	err = l.Restart(0, fault.NoData)
	if !errors.Is(err, redisproc.ErrPortInUse) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), l.places[0].primary.addr) {
		t.Errorf("error is %v", err)
	}
	noErr(t, taken.Close())
	noErr(t, l.Restart(0, fault.NoData))
}
