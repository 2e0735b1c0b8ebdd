package main

import (
	"os"
	"os/signal"
	"syscall"
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
