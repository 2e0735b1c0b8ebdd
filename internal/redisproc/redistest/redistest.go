// Package redistest starts servers of package redisproc for tests, and keeps
// package testing out of programs.
//
// It does not make a missing server an error by default: such a test is
// skipped with one line. With INCUMBENT_REQUIRE_REDIS=1 it fails.
package redistest

import (
	"os"
	"testing"

	"incumbent/internal/redisproc"
)

// RequireEnv names the environment variable that turns skips into failures when it is "1".
const RequireEnv = "INCUMBENT_REQUIRE_REDIS"

// logLines is how much of the server's log a failed test shows.
const logLines = 20

// Require returns the path of a server binary. Without one it skips the test,
// or fails it when RequireEnv is set.
func Require(tb testing.TB) string {
	tb.Helper()
	path, err := redisproc.FindBinary()
	if err == nil {
		return path
	}
	if os.Getenv(RequireEnv) == "1" {
		tb.Fatalf("%v (%s=1 forbids to skip)", err, RequireEnv)
	}
	tb.Skipf("needs a real server: %v", err)
	return ""
}

// StartT starts a server and stops it when the test ends; a failed test shows
// the end of its log. Without a binary it does as Require.
func StartT(tb testing.TB, o redisproc.Options) *redisproc.Server {
	tb.Helper()
	if o.Binary == "" {
		o.Binary = Require(tb)
	}
	s, err := redisproc.Start(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
		if tb.Failed() {
			tb.Logf("log of the server at %s:\n%s", s.Addr(), s.LogTail(logLines))
		}
	})
	return s
}
