package process

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// childAttr lets the kernel kill the child with its parent, and keeps ^C at
// a terminal from reaching it.
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
