package supervise

import (
	"syscall"
	"unsafe"
)

const (
	idAll  = 0
	idPID  = 1
	exited = 0x4
	noHang = 0x1
	noWait = 0x20
)

// peek reports whether a child has ended, and how, without reaping it: pid, or any
// child if pid is 0. The number is 0 if there is none.
func peek(pid int) (int, Status, error) {
	kind := idPID
	if pid == 0 {
		kind = idAll
	}
	// Larger than siginfo_t: signal, errno, code, pid, user, status.
	var info [64]int32
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, uintptr(kind), uintptr(pid),
			uintptr(unsafe.Pointer(&info)), exited|noHang|noWait, 0, 0)
		switch errno {
		case 0:
			return int(info[3]), statusOf(info[2], info[5]), nil
		case syscall.EINTR:
		default:
			return 0, Status{}, errno
		}
	}
}
