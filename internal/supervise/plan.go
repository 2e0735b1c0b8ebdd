package supervise

import "time"

// An Instant is a reading of the clock that all processes of a machine share, and which
// counts the time during which the machine was suspended, where it can: nanoseconds of
// CLOCK_BOOTTIME on Linux, of CLOCK_MONOTONIC on macOS. 0 is no instant.
type Instant int64

// Add is the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub is the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

const (
	// minMargin is the least time that the kernel gets to end what was killed.
	minMargin = 10 * time.Millisecond
	// busyMargin is what a busy machine may need to let the watchdog run: it is left
	// where as much remains between the two signals.
	busyMargin = 50 * time.Millisecond
)

// Timing is how long before its deadline a command is ended, and how long it may take.
type Timing struct {
	// StepDown before the deadline the command gets SIGTERM.
	StepDown time.Duration
	// Margin before the deadline it gets SIGKILL. 0 means StepDown/3, but 50 ms, or
	// StepDown/2 if that is less, and 10 ms at least.
	Margin time.Duration
	// Grace is the time from the first signal that asks it to end until SIGKILL, where
	// the deadline allows as much. 0 or less means none.
	Grace time.Duration
}

func (t Timing) withDefaults() Timing {
	if t.Margin == 0 {
		t.Margin = max(t.StepDown/3, min(busyMargin, t.StepDown/2), minMargin)
	}
	return t
}

// plan is when a command is asked to end and when it is killed. Both sides of the pipe
// keep one.
type plan struct {
	Timing
	deadline Instant
	asked    Instant // when the command was first asked to end; 0 if it was not
	ordered  Instant // when it was ordered to be killed; 0 if it was not
	killing  bool    // it is being killed, for good
}

// askAt is when the command must be asked to end.
func (p *plan) askAt() Instant { return min(p.deadline.Add(-p.StepDown), p.killAt()) }

// killAt is when the command must be killed.
func (p *plan) killAt() Instant {
	at := p.deadline.Add(-p.Margin)
	if p.asked != 0 {
		at = min(at, p.asked.Add(max(p.Grace, 0)))
	}
	if p.ordered != 0 {
		at = min(at, p.ordered)
	}
	return at
}

// extend moves the deadline. It never moves back.
func (p *plan) extend(to Instant) { p.deadline = max(p.deadline, to) }

// ask notes that the command was asked to end. Only the first time counts.
func (p *plan) ask(now Instant) {
	if p.asked == 0 {
		p.asked = now
	}
}

// due is the next instant at which something must be done.
func (p *plan) due() Instant {
	if p.asked == 0 {
		return p.askAt()
	}
	return p.killAt()
}
