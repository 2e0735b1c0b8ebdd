//go:build unix

package main

import (
	"errors"
	"syscall"
)

// isGone reports whether writing failed since nobody reads any more.
func isGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
