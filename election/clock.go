package election

import "time"

// A Clock is the only source of time in this package. It must never go back,
// and should count the time during which the machine was suspended.
type Clock interface {
	// Now is the current time as this clock counts it. Only differences
	// between two readings mean anything exact; as a date it is an estimate.
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own once d has passed. Stop
	// prevents the call and reports whether it did. A timer may be late, since
	// the operating system's timers do not run while the machine is suspended;
	// whoever relies on it reads Now again.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock counts suspended time where the platform can: CLOCK_BOOTTIME on
// Linux, CLOCK_MONOTONIC on macOS (which counts sleep there). Elsewhere it is
// Go's own monotonic clock.
func SystemClock() Clock { return systemClock{} }

// RuntimeClock is Go's own clock, which stops while the machine is suspended.
// It follows virtual time inside a testing/synctest bubble.
func RuntimeClock() Clock { return runtimeClock{} }

var (
	// epoch ties the reading of an uptime clock to a date, once a process.
	epoch  = time.Now().Round(0)
	uptime = sinceBoot()
)

type systemClock struct{}

func (systemClock) Now() time.Time { return epoch.Add(sinceBoot() - uptime) }

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

type runtimeClock struct{}

func (runtimeClock) Now() time.Time { return time.Now() }

func (runtimeClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
