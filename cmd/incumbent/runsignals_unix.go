//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// heed makes signals go to the command, until the function that it returns is called.
// After the first that asks for an end, this process waits for the command, and passes
// on whatever else comes.
func (r *runner) heed() (stop func()) {
	toEnd := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		toEnd = append(toEnd, syscall.SIGHUP)
	}
	c := make(chan os.Signal, 16)
	signal.Notify(c, append(toEnd, syscall.SIGUSR1, syscall.SIGUSR2)...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for sig := range c {
			if s, ok := sig.(syscall.Signal); ok {
				r.told(s, s != syscall.SIGUSR1 && s != syscall.SIGUSR2)
			}
		}
	}()
	return func() {
		signal.Stop(c)
		close(c)
		<-ended
	}
}

// fromTerminal reports whether a file is a terminal, of whatever kind.
func fromTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
