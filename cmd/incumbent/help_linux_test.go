package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestHelpFitsTheTerminal, within reason.
func TestHelpFitsTheTerminal(t *testing.T) {
	_, tty := terminal(t)
	for columns, want := range map[uint16]int{0: helpWidth, 20: minHelpWidth, 72: 72, 100: 100, 300: helpWidth} {
		if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
			t.Fatal(err)
		}
		if got := widthOf(tty); got != want {
			t.Errorf("%d columns: help has %d, want %d", columns, got, want)
		}
	}
}
