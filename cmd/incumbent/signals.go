package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// interrupts are the signals at which a comparison stops and writes what there is. That
// of a terminal which was closed is one of them, unless nohup or the like has seen to it
// that it is ignored.
func interrupts() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// moment is how long after the first interrupt others are taken for the same one: a
// terminal, a CI runner or timeout(1) may send it both to the process and to its group.
const moment = 2 * time.Second

// interruptible returns a context that ends at the first interrupt. For a moment others
// are ignored, so that what there is can be written and the exit code is the program's
// own; the next one after that ends the program at once. stop must be called in the end:
// without an interrupt, the next one then ends the program.
func interruptible(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, restore := signal.NotifyContext(parent, interrupts()...)
	context.AfterFunc(ctx, func() { time.AfterFunc(moment, restore) })
	return ctx, func() {
		if ctx.Err() == nil {
			restore()
		}
	}
}
