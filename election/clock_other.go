//go:build !linux && !darwin

package election

import "time"

var processStart = time.Now()

// sinceBoot is Go's monotonic clock: the nearest that is portable.
func sinceBoot() time.Duration { return time.Since(processStart) }
