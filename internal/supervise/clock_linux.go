package supervise

import "golang.org/x/sys/unix"

// Now reads the clock.
func Now() Instant { return read(unix.CLOCK_BOOTTIME) }
