//go:build !linux && !darwin

package supervise

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

var processStart = time.Now()

// Now reads the clock.
func Now() Instant { return Instant(time.Since(processStart)) }

// Supported is nil, or why commands cannot be supervised on this system.
func Supported() error {
	return fmt.Errorf("%w: %s has no process groups that this program knows: use Linux or macOS", ErrUnsupported, runtime.GOOS)
}

// A Command is a command under its watchdog; there is none here.
type Command struct{}

// Start returns an ErrUnsupported.
func Start(Options) (*Command, error) { return nil, Supported() }

// Watchdog returns 1.
func Watchdog() int { return 1 }

// Extend does nothing.
func (*Command) Extend(Instant) {}

// Signal does nothing.
func (*Command) Signal(syscall.Signal) {}

// Stop does nothing.
func (*Command) Stop(syscall.Signal) {}

// Kill does nothing.
func (*Command) Kill() {}

// Done is never closed.
func (*Command) Done() <-chan struct{} { return nil }

// Result is empty.
func (*Command) Result() Result { return Result{} }
