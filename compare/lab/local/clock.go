package local

import (
	"time"

	"golang.org/x/sys/unix"

	"incumbent/election"
)

// monotonic is the clock that all processes of a host share.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("local: CLOCK_MONOTONIC: " + err.Error()) // every supported kernel has it
	}
	return time.Duration(ts.Nano())
}

// stamps turns readings of an elector's clock into CLOCK_MONOTONIC. The two
// run at the same speed, apart by a constant unless the host is suspended.
type stamps struct {
	mono time.Duration
	date time.Time
}

const calibrations = 20

// calibrate reads both clocks next to each other, and keeps the pair that was
// read fastest.
func calibrate(c election.Clock) stamps {
	var best stamps
	width := time.Hour
	for range calibrations {
		before := monotonic()
		now := c.Now()
		after := monotonic()
		if after-before < width {
			width, best = after-before, stamps{before + (after-before)/2, now}
		}
	}
	return best
}

func (s stamps) at(t time.Time) time.Duration { return s.mono + t.Sub(s.date) }
