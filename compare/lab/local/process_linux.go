package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr lets the kernel kill the child with its parent, and keeps ^C at a
// terminal from reaching it.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// isStopped reports whether the kernel has stopped the process.
func isStopped(pid int) (bool, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false, err
	}
	// The state follows the name, which stands in brackets and may contain any byte.
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 || i+2 >= len(stat) {
		return false, fmt.Errorf("unexpected /proc/%d/stat: %q", pid, stat)
	}
	return stat[i+2] == 'T', nil
}

// freezeSelf stops this process at this very line: the signal goes to this
// thread, which meets it before it runs another instruction.
func freezeSelf() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP); err != nil {
		panic("local: cannot stop: " + err.Error()) // a process may always signal itself
	}
}

// openSockets counts this process's sockets.
func openSockets() (n int) {
	fds, _ := filepath.Glob("/proc/self/fd/*") // fails on a bad pattern only
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
