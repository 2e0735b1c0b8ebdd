//go:build unix && !linux

package dbproc

import "syscall"

// dieWithParent cannot be had here: the server of a test that is killed stays.
func dieWithParent(*syscall.SysProcAttr) {}
