//go:build linux || darwin

package supervise

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// A member is a process of a command.
type member struct {
	pid, parent, group int
	dead               bool // has ended and waits to be reaped
	state              string
	name               string
}

// A family is a command and all that it has started.
type family struct {
	// root is above all of it: the watchdog, or the agent that has inherited it.
	root int
	// leader is the number of the command and of its group; 0 if it is not known. It
	// must not be reaped while the family is in use.
	leader int
	// spare are children of root that are no part of it.
	spare map[int]bool
	// heard are those outside of the group that have got the last signal.
	heard map[int]bool
}

// signal sends sig to the group, and to every descendant outside of it. One that was
// stopped is woken, so that it hears.
func (f *family) signal(sig syscall.Signal) {
	f.signalGroup(sig)
	f.signalGroup(syscall.SIGCONT)
	f.heard = map[int]bool{}
	f.remind(sig)
}

// remind sends sig to those outside of the group who were missed by the last signal: while
// some end, and others get a new parent, not all are found.
func (f *family) remind(sig syscall.Signal) {
	f.signalBelow(f.heard, func(m member) bool { return m.group == f.leader }, sig, syscall.SIGCONT)
}

// kill ends all of it. What is forked meanwhile is left for the next call.
func (f *family) kill() {
	f.signalGroup(syscall.SIGKILL)
	f.signalBelow(map[int]bool{}, func(member) bool { return false }, syscall.SIGKILL)
}

// signalGroup sends sig to the command's group. The leader is not reaped yet, so that
// nobody else has its number.
func (f *family) signalGroup(sig syscall.Signal) {
	if f.leader > 1 {
		_ = syscall.Kill(-f.leader, sig) // what could not be signalled is seen by what is left
	}
}

// owned reports whether this process alone reaps the members directly below root.
func (f *family) owned() bool { return f.root == os.Getpid() }

// describe lists members for people.
func describe(list []member) string {
	var b strings.Builder
	for i, m := range list {
		if i == 5 {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s (state %s)", m.pid, m.name, m.state)
	}
	return b.String()
}
