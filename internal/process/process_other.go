//go:build !linux

package process

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// childAttr keeps ^C at a terminal from reaching the child.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// isStopped reports whether the kernel has stopped the process.
func isStopped(pid int) (bool, error) {
	out, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false, errors.Join(err, os.ErrNotExist)
	}
	return strings.HasPrefix(strings.TrimSpace(string(out)), "T"), nil
}
