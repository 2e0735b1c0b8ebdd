package dbproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a test whose end can be looked at.
type recorder struct {
	testing.TB
	ended    string
	message  string
	logged   string
	failed   bool
	cleanups []func()
}

func (r *recorder) Skipf(f string, a ...any)  { r.end("skip", f, a) }
func (r *recorder) Fatalf(f string, a ...any) { r.end("fatal", f, a) }
func (r *recorder) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool              { return r.failed }
func (r *recorder) Logf(f string, a ...any)   { r.logged += fmt.Sprintf(f, a...) }

func (r *recorder) end(how, f string, a []any) {
	r.ended, r.message = how, fmt.Sprintf(f, a...)
	runtime.Goexit()
}

// run calls start as a test of its own and gives what it returned.
func run(t *testing.T, start func(testing.TB) string) (*recorder, string) {
	r, got := &recorder{TB: t}, ""
	done := make(chan struct{})
	go func() {
		defer close(done)
		got = start(r)
	}()
	<-done
	return r, got
}

func TestStopsAndCleansUp(t *testing.T) {
	for _, tt := range []struct {
		name   string
		start  func(testing.TB) string
		folder func(string) string
		logs   string
	}{
		{"PostgreSQL", StartPostgres, func(dsn string) string {
			return strings.TrimPrefix(strings.Fields(dsn)[0], "host=")
		}, "ready to accept connections"},
		{"MariaDB", StartMariaDB, filepath.Dir, "ready for connections"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, got := run(t, tt.start)
			if r.ended == "skip" {
				t.Skip(r.message)
			}
			if r.ended != "" {
				t.Fatal(r.message)
			}
			folder := tt.folder(got)
			if info, err := os.Stat(folder); err != nil || !info.IsDir() {
				t.Fatalf("%q: %v", folder, err)
			}
			r.failed = true
			for i := len(r.cleanups) - 1; i >= 0; i-- {
				r.cleanups[i]()
			}
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("folder is still there: %v", err)
			}
			if !strings.Contains(r.logged, tt.logs) || strings.Contains(r.logged, "killed") {
				t.Errorf("a failed test shows %q, want the log", r.logged)
			}
		})
	}
}

func TestWithoutBinary(t *testing.T) {
	for _, tt := range []struct{ value, want string }{{"", "skip"}, {"0", "skip"}, {"1", "fatal"}} {
		t.Setenv(RequirePostgres, tt.value)
		r, _ := run(t, func(tb testing.TB) string {
			return find(tb, "incumbent-no-such-server", RequirePostgres, "the package postgresql", t.TempDir())
		})
		if r.ended != tt.want || strings.Contains(r.message, "\n") || !strings.Contains(r.message, "install the package postgresql") {
			t.Errorf("%s=%q: %s %q, want %s with a remedy", RequirePostgres, tt.value, r.ended, r.message, tt.want)
		}
	}
}

// A server that does not come up fails the test, with its log, and leaves nothing.
func TestServerThatEnds(t *testing.T) {
	r, _ := run(t, func(tb testing.TB) string {
		s := newServer(tb, "server", "postgres", "nobody")
		s.start(tb, os.Interrupt, func(context.Context) error { return errors.New("no answer") }, "/bin/sh", "-c", "echo sorry; exit 3")
		return ""
	})
	r.failed = true
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
	if r.ended != "fatal" || !strings.Contains(r.message, "exit status 3") || !strings.Contains(r.logged, "sorry") {
		t.Errorf("%s %q, log %q", r.ended, r.message, r.logged)
	}
}
