package redistest_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a test whose end can be looked at.
type recorder struct {
	testing.TB
	ended, message string
	cleanups       []func()
	logged         string
	failed         bool
}

func (r *recorder) Skipf(f string, a ...any)  { r.end("skip", f, a) }
func (r *recorder) Fatalf(f string, a ...any) { r.end("fatal", f, a) }
func (r *recorder) Fatal(a ...any)            { r.end("fatal", "%s", []any{fmt.Sprint(a...)}) }
func (r *recorder) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool              { return r.failed }
func (r *recorder) Logf(f string, a ...any)   { r.logged += fmt.Sprintf(f, a...) }

func (r *recorder) end(how, f string, a []any) {
	r.ended, r.message = how, fmt.Sprintf(f, a...)
	runtime.Goexit()
}

// run calls f as a test of its own.
func run(t *testing.T, f func(tb testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestWithoutBinary(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, tt := range []struct{ env, want string }{{"", "skip"}, {"0", "skip"}, {"1", "fatal"}} {
		t.Setenv(redistest.RequireEnv, tt.env)
		for name, f := range map[string]func(testing.TB){
			"Require": func(tb testing.TB) { redistest.Require(tb) },
			"StartT":  func(tb testing.TB) { redistest.StartT(tb, redisproc.Options{}) },
		} {
			r := run(t, f)
			if r.ended != tt.want || strings.Contains(r.message, "\n") || !strings.Contains(r.message, "install") {
				t.Errorf("%s with %s=%q: %s %q, want %s with a remedy", name, redistest.RequireEnv, tt.env, r.ended, r.message, tt.want)
			}
		}
	}
}

func TestStartTFailsOnBadOptions(t *testing.T) {
	path := redistest.Require(t)
	r := run(t, func(tb testing.TB) { redistest.StartT(tb, redisproc.Options{Binary: path, Port: -1}) })
	if r.ended != "fatal" || !strings.Contains(r.message, "Port = -1") {
		t.Errorf("%s %q, want fatal", r.ended, r.message)
	}
}

func TestStartTCleansUp(t *testing.T) {
	redistest.Require(t)
	var s *redisproc.Server
	r := run(t, func(tb testing.TB) { s = redistest.StartT(tb, redisproc.Options{}) })
	if r.ended != "" || s.PID() == 0 {
		t.Fatalf("%s %q, PID %d", r.ended, r.message, s.PID())
	}
	r.failed = true
	for _, f := range r.cleanups {
		f()
	}
	if s.PID() != 0 {
		t.Errorf("process %d still runs", s.PID())
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("folder is still there: %v", err)
	}
	if !strings.Contains(r.logged, "Ready to accept") {
		t.Errorf("a failed test shows %q, want the log", r.logged)
	}
}
