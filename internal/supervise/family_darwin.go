package supervise

import (
	"os"
	"syscall"
)

// inherit has no counterpart here: orphans go to process 1.
func inherit() error { return nil }

// childAttr is for the command: a group of its own.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// rename has no counterpart here.
func rename(string) {}

// self is the path of the running program.
func self() (string, error) { return os.Executable() }

// children has no use here.
func children() map[int]bool { return nil }

// left lists the group, if a living process is in it: zombies do not count for kill.
func (f *family) left() ([]member, error) {
	if f.leader > 1 && syscall.Kill(-f.leader, 0) == nil {
		return []member{{pid: f.leader, group: f.leader, state: "?", name: "process group"}}, nil
	}
	return nil, nil
}

// signalBelow has no counterpart here: the group is all that is known.
func (f *family) signalBelow(map[int]bool, func(member) bool, ...syscall.Signal) {}
