package virtual

import (
	"time"

	"incumbent/internal/simnet"
)

// clock is a candidate's election.Clock: the bubble's time, at which nothing
// happens while the candidate is frozen, and whose timers go off at instants that
// only this candidate uses.
type clock struct {
	timers      *timers
	read, fired func() // gates
}

// newClock makes a clock for one part of a host, which is stopped apart from others.
func newClock(w *simnet.World, host, part string) clock {
	return clock{&timers{source: w.Source(host + "/timer")}, w.Gate(host, part+" clock"), w.Gate(host, part+" timer")}
}

// Now implements election.Clock.
func (c clock) Now() time.Time {
	c.read()
	return time.Now()
}

// AfterFunc implements election.Clock.
func (c clock) AfterFunc(d time.Duration, f func()) func() bool {
	return c.timers.after(d, func() {
		c.fired()
		f()
	})
}
