package supervise

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// Reason is why a command was asked to end.
type Reason string

// The reasons.
const (
	// Itself: it was not asked, it ended by itself.
	Itself Reason = ""
	// Told: Stop or Kill was called.
	Told Reason = "told"
	// Deadline: the deadline came near.
	Deadline Reason = "deadline"
	// Orphaned: the agent closed its pipe, or died.
	Orphaned Reason = "orphaned"
	// Unwatched: the watchdog died or did not answer.
	Unwatched Reason = "unwatched"
)

// ErrUnwatched says that the watchdog died, or did not answer, so that the command was
// ended.
var ErrUnwatched = errors.New("the watchdog of the command died or did not answer")

// ErrLate says that so little time was left that the command was not started.
var ErrLate = errors.New("too little time was left to start the command")

// ErrUnsupported says that this system lacks what the package needs.
var ErrUnsupported = errors.New("commands cannot be supervised on this system")

// Status is how a command ended.
type Status struct {
	Code   int            `json:"code"`             // its own, if no signal ended it
	Signal syscall.Signal `json:"signal,omitempty"` // that ended it; 0 if none did
}

// ExitCode is what a shell reports: 128 + n for signal n.
func (s Status) ExitCode() int {
	if s.Signal != 0 {
		return 128 + int(s.Signal)
	}
	return s.Code
}

// String says it in words.
func (s Status) String() string {
	if s.Signal != 0 {
		return fmt.Sprintf("signal %d (%s)", int(s.Signal), s.Signal)
	}
	return fmt.Sprintf("exit status %d", s.Code)
}

// Result is how a command ended.
type Result struct {
	// Err is why it was not started, or ErrUnwatched.
	Err error
	// Status is how the command itself ended; nil if it was not started, or if nobody
	// could tell.
	Status *Status
	// Asked is why it was asked to end before it did.
	Asked Reason
	// Killed says that it, or something that it left behind, had to be killed.
	Killed bool
}

// Exit codes for commands that cannot be run, as shells have them.
const (
	CannotExecute = 126
	NotFound      = 127
)

// StartError says why a program cannot be run.
type StartError struct {
	Name string
	Err  error
}

// Error names the program, the cause, and what helps.
func (e *StartError) Error() string {
	text := fmt.Sprintf("cannot run %q: %v", e.Name, e.Err)
	if errors.Is(e.Err, syscall.ENOEXEC) {
		text += ": it is no program, and has no first line such as #!/bin/sh"
	}
	return text
}

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// ExitCode is CannotExecute, or NotFound.
func (e *StartError) ExitCode() int {
	if errors.Is(e.Err, exec.ErrNotFound) || errors.Is(e.Err, syscall.ENOENT) {
		return NotFound
	}
	return CannotExecute
}

// Look finds a program as a shell does: by its path, or in PATH. The error is a
// *StartError.
func Look(name string) (path string, err error) {
	path, err = exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) { // a PATH with the current folder is the user's choice
		return path, nil
	}
	var inner *exec.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return "", &StartError{name, err}
}
