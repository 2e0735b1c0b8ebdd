package supervise

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// peek reports whether a child has ended, and how, without reaping it: pid, or any
// child if pid is 0. The number is 0 if there is none.
func peek(pid int) (int, Status, error) {
	kind := unix.P_PID
	if pid == 0 {
		kind = unix.P_ALL
	}
	var info unix.Siginfo
	for {
		err := unix.Waitid(kind, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, Status{}, err
		}
		break
	}
	// After three integers comes a union, aligned as a pointer: pid, user, status.
	const skip = (3*4 + unsafe.Sizeof(uintptr(0)) - 1) &^ (unsafe.Sizeof(uintptr(0)) - 1)
	child := (*[3]int32)(unsafe.Add(unsafe.Pointer(&info), skip))
	return int(child[0]), statusOf(info.Code, child[2]), nil
}
