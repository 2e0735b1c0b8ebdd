package proof_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the clock that all processes of a host share.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("CLOCK_MONOTONIC: " + err.Error()) // every supported kernel has it
	}
	return time.Duration(ts.Nano())
}
