// Package bubble makes testing/synctest bubbles in an ordinary program.
//
// Go promises nothing about that: bubbles are for tests, so the program becomes
// one. This is the only package outside of tests that imports testing, and a test
// of a built binary tells when a new Go version no longer allows it.
//
// Some failures cannot be recovered and end the process, such as the use of
// something that belongs to another bubble. So run this in a process of its own.
package bubble

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"testing/synctest"
)

// Main calls body and exits the process with the code that it returns. body may
// call run, one call after the other: it runs f in a bubble of its own, waits until
// all its goroutines have ended, and returns an error if f panicked or if its
// goroutines wait for each other for ever. Those are then left behind: end the
// process soon.
//
// It takes over os.Args, and never returns.
func Main(body func(run func(f func()) error) int) {
	// Otherwise testing would read the program's own flags, and end it after ten
	// minutes.
	os.Args = []string{os.Args[0], "-test.timeout=0"}
	main := func(t *testing.T) {
		os.Exit(body(func(f func()) error { return run(t, f) }))
	}
	testing.Main(func(_, _ string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "bubble", F: main}}, nil, nil)
}

// run runs f in a bubble. A panic that reached testing would end the process.
func run(t *testing.T, f func()) (err error) {
	defer recovered(&err) // of the bubble: a deadlock
	synctest.Test(t, func(*testing.T) {
		defer recovered(&err)
		f()
	})
	return err
}

// recovered turns a panic into an error. What it leaves behind makes another one,
// which tells less.
func recovered(err *error) {
	if v := recover(); v != nil && *err == nil {
		*err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}
