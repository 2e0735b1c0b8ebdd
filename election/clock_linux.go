package election

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot reads CLOCK_BOOTTIME, which goes on while the machine is suspended.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// Only a kernel before 2.6.39 has no such clock; guessing a time would
		// be worse than stopping.
		panic("election: CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
