package redisproc_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// script writes an executable that stands in for a server.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fake-server")
	noErr(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	return path
}

func oneLine(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	msg := err.Error()
	if strings.Contains(msg, "\n") || !strings.HasPrefix(msg, "redisproc: ") {
		t.Errorf("not one line of this package: %q", msg)
	}
	for _, w := range want {
		if !strings.Contains(msg, w) {
			t.Errorf("%q lacks %q", msg, w)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	file := script(t, "")
	tests := []struct {
		name string
		o    redisproc.Options
		want []string
	}{
		{"port", redisproc.Options{Port: 70000}, []string{"Port = 70000: must be"}},
		{"cluster port", redisproc.Options{Port: 60000, Cluster: true}, []string{"Port = 60000: must be at most 55535"}},
		{"persistence", redisproc.Options{Persistence: 9}, []string{"Persistence = 9: must be"}},
		{"timeout", redisproc.Options{ReadyTimeout: -time.Second}, []string{`ReadyTimeout = "-1s": must not`}},
		{"folder", redisproc.Options{Dir: file}, []string{"Dir = ", "existing folder"}},
		{"ACL file", redisproc.Options{ACLFile: "absent"}, []string{`ACLFile = "absent": must be a readable file`}},
		{"both", redisproc.Options{ACLFile: file, Password: "hush"}, []string{"ACLFile = ", "excludes Password"}},
		{"TLS", redisproc.Options{TLS: &redisproc.TLS{Cert: file}}, []string{`TLS.Key = ""`, `TLS.CA = ""`}},
		{"odd", redisproc.Options{Args: []string{"hush"}}, []string{"Args = ", "pairs"}},
		{"name", redisproc.Options{Args: []string{"--maxmemory", "1mb"}}, []string{`Args = "--maxmemory": must name`}},
		{"lines", redisproc.Options{Args: []string{"maxmemory", "hush\nport 1"}}, []string{`Args = "maxmemory"`, "one line"}},
		{"decided", redisproc.Options{Args: []string{"Port", "1"}}, []string{`Args = "Port": is decided by Port`}},
		{"sentinel", redisproc.Options{Sentinel: &redisproc.Sentinel{Name: "a b", Primary: "x"}, Cluster: true}, []string{
			"Sentinel = ", "excludes", `Sentinel.Name = "a b"`, `Sentinel.Primary = "x"`, "Sentinel.Quorum = 0",
		}},
		{"together", redisproc.Options{Port: -1, Persistence: -1}, []string{"Port = -1", "; Persistence = -1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := redisproc.Start(ctx(t), tt.o)
			oneLine(t, err, tt.want...)
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("%q tells a secret", err)
			}
			var oe *redisproc.OptionError
			if !errors.As(err, &oe) || oe.Field == "" || oe.Rule == "" {
				t.Errorf("%v holds no *OptionError", err)
			}
		})
	}
}

func TestNoBinary(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := redisproc.Start(ctx(t), redisproc.Options{})
	oneLine(t, err, "redis-server", "valkey-server", "install", "Options.Binary")
	if !errors.Is(err, redisproc.ErrNoBinary) {
		t.Errorf("%v is not %v", err, redisproc.ErrNoBinary)
	}
	_, err = redisproc.Start(ctx(t), redisproc.Options{Binary: "keydb-server"})
	oneLine(t, err, "keydb-server", "Options.Binary")
	if !errors.Is(err, redisproc.ErrNoBinary) {
		t.Errorf("%v is not %v", err, redisproc.ErrNoBinary)
	}
}

func TestValkeyIsFoundToo(t *testing.T) {
	dir := filepath.Dir(script(t, ""))
	noErr(t, os.Rename(filepath.Join(dir, "fake-server"), filepath.Join(dir, "valkey-server")))
	t.Setenv("PATH", dir)
	got, err := redisproc.FindBinary()
	if want := filepath.Join(dir, "valkey-server"); got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestStartErrors(t *testing.T) {
	redistest.Require(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	defer ln.Close()
	acl := filepath.Join(t.TempDir(), "acl")
	noErr(t, os.WriteFile(acl, []byte("user x on >hush +nosuchcommand\n"), 0o600))
	tests := []struct {
		name string
		o    redisproc.Options
		is   error
		want []string
	}{
		{"port in use", redisproc.Options{Port: ln.Addr().(*net.TCPAddr).Port}, redisproc.ErrPortInUse,
			[]string{"start " + ln.Addr().String() + ": port is in use: stop the process"}},
		{"directive", redisproc.Options{Args: []string{"no-such", "1"}}, redisproc.ErrExited, []string{"no-such", "exit status 1", "Options.Args"}},
		{"secret directive", redisproc.Options{Args: []string{"no-such-pass", "hush"}}, redisproc.ErrExited, []string{"no-such-pass ***"}},
		{"ACL", redisproc.Options{ACLFile: acl}, redisproc.ErrExited, []string{"nosuchcommand"}},
		{"exit", redisproc.Options{Binary: script(t, "echo woe; exit 3")}, redisproc.ErrExited, []string{"exit status 3", "woe"}},
		{"silent", redisproc.Options{Binary: script(t, "exec tail -f /dev/null"), ReadyTimeout: 50 * time.Millisecond},
			redisproc.ErrNotReady, []string{"not said", "ReadyTimeout"}},
		{"endless", redisproc.Options{Binary: script(t, "exec yes")}, redisproc.ErrNotReady, []string{"without end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Dir = t.TempDir()
			_, err := redisproc.Start(ctx(t), tt.o)
			oneLine(t, err, tt.want...)
			if !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("%q tells a secret", err)
			}
			if left, _ := os.ReadDir(tt.o.Dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestStartCancelled(t *testing.T) {
	c, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := redisproc.Start(c, redisproc.Options{Binary: script(t, "exec tail -f /dev/null"), Dir: t.TempDir()})
	oneLine(t, err, "start 127.0.0.1:")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not %v", err, context.Canceled)
	}
}

func TestRestartFindsPortTaken(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	noErr(t, s.Kill())
	ln, err := net.Listen("tcp", s.Addr())
	noErr(t, err)
	err = s.Restart(ctx(t))
	oneLine(t, err, "restart "+s.Addr()+": port is in use")
	if !errors.Is(err, redisproc.ErrPortInUse) {
		t.Errorf("%v is not %v", err, redisproc.ErrPortInUse)
	}
	ln.Close()
	noErr(t, s.Restart(ctx(t))) // the call may be repeated
}

func TestAfterStop(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	noErr(t, s.Stop())
	noErr(t, s.Kill())
	for op, err := range map[string]error{"pause": s.Pause(), "resume": s.Resume(), "restart": s.Restart(ctx(t))} {
		oneLine(t, err, op+" "+s.Addr(), "start a new server")
		var e *redisproc.Error
		if !errors.Is(err, redisproc.ErrStopped) || !errors.As(err, &e) || e.Op != op {
			t.Errorf("%s: %v", op, err)
		}
	}
}
