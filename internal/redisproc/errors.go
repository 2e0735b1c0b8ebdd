package redisproc

import (
	"errors"
	"fmt"
)

// Causes found in the errors of this package with errors.Is.
var (
	// ErrNoBinary: neither redis-server nor valkey-server could be found.
	ErrNoBinary = errors.New("no redis-server or valkey-server found")
	// ErrPortInUse: another process listens on the port.
	ErrPortInUse = errors.New("port is in use")
	// ErrExited: the server ended before it was ready.
	ErrExited = errors.New("server exited before it was ready")
	// ErrNotReady: the server runs but did not answer in time.
	ErrNotReady = errors.New("server did not become ready in time")
	// ErrNotRunning: the operation needs a running server, and it was killed or died.
	ErrNotRunning = errors.New("server is not running")
	// ErrStopped: the server was stopped for good.
	ErrStopped = errors.New("server was stopped")
)

// Error is every error of a server: one line with what was tried, on which
// server, why it failed and what helps.
type Error struct {
	Op     string // "start", "pause", ...
	Addr   string // host:port; empty before a port was chosen
	Err    error  // cause
	Remedy string // what to do about it; may be empty
}

// Error returns the line.
func (e *Error) Error() string {
	s := "redisproc: " + e.Op
	if e.Addr != "" {
		s += " " + e.Addr
	}
	s += ": " + e.Err.Error()
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// OptionError is an option that breaks a rule.
type OptionError struct {
	Field string
	Value string // as Go syntax; never a secret
	Rule  string
}

// Error returns field, value and rule on one line.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s = %s: %s", e.Field, e.Value, e.Rule)
}

// optionErrors is all that is wrong with the options, on one line.
type optionErrors []*OptionError

func (es optionErrors) Error() string {
	s := ""
	for i, e := range es {
		if i > 0 {
			s += "; "
		}
		s += e.Error()
	}
	return s
}

func (es optionErrors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}
