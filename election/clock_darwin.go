package election

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot reads CLOCK_MONOTONIC, which on macOS goes on during sleep.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("election: CLOCK_MONOTONIC: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
