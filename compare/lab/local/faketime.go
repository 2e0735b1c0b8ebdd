package local

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"incumbent/compare/fault"
)

// fakeTimePlaces is where packages put the library that libfaketime has for programs
// with threads.
var fakeTimePlaces = []string{
	"/usr/lib/*/faketime/libfaketimeMT.so.1",
	"/usr/lib/faketime/libfaketimeMT.so.1",
	"/usr/lib64/faketime/libfaketimeMT.so.1",
	"/usr/local/lib/faketime/libfaketimeMT.so.1",
}

// findFakeTime returns the path of the library; "" means where packages put it.
func findFakeTime(path string) (string, error) {
	if path != "" {
		if abs, err := filepath.Abs(path); err == nil && exists(abs) {
			return abs, nil
		}
		return "", fmt.Errorf("clocks of masters cannot be set: %s is not there: %w", path, fault.ErrUnsupported)
	}
	for _, pattern := range fakeTimePlaces {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("clocks of masters cannot be set: install the package libfaketime: %w", fault.ErrUnsupported)
}

// clockFile sets the clock of a process that was started with libfaketime: its wall
// clock only.
type clockFile struct {
	path  string
	ahead time.Duration
}

func newClockFile(dir string) (*clockFile, error) {
	f, err := os.CreateTemp(dir, "clock-")
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	c := &clockFile{path: f.Name()}
	return c, c.set(0)
}

// environ makes the process look at the file whenever it asks what time it is.
// Without libc.so.6 named as well a server hangs in its allocator.
func (c *clockFile) environ(library string) []string {
	return []string{
		"LD_PRELOAD=" + library + ":libc.so.6", "FAKETIME_TIMESTAMP_FILE=" + c.path,
		"FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1",
	}
}

// set sets the clock that much ahead of the right time. The file is replaced as a
// whole, so that nobody reads half of it.
func (c *clockFile) set(ahead time.Duration) error {
	next := c.path + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+.6f\n", ahead.Seconds()), 0o600); err != nil {
		return err
	}
	c.ahead = ahead
	return os.Rename(next, c.path)
}
