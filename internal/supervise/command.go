package supervise

import (
	"log/slog"
	"os"
	"slices"
	"strings"
)

// Options say what to run, and until when.
type Options struct {
	// Path is the program, as Look finds it. Args are its arguments, the first of which
	// is its name for itself.
	Path string
	Args []string
	// Env are variables, as NAME=value, beside those of this process. Of two with one
	// name the last counts.
	Env []string
	// Without are names of variables of this process that neither the command nor its
	// watchdog gets.
	Without []string
	// Stdin, Stdout and Stderr are the command's. nil means /dev/null.
	Stdin, Stdout, Stderr *os.File
	// Deadline is when all of it must be gone, until Extend moves it.
	Deadline Instant
	// Timing says how long before that it is ended.
	Timing Timing
	// Watchdog are arguments with which this very program calls Watchdog.
	Watchdog []string
	// Logger gets what people should know. It must not block. nil means slog.Default().
	Logger *slog.Logger
}

// environ is what the command and its watchdog get.
func (o Options) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(o.Without, name)
	})
	return append(env, o.Env...)
}
