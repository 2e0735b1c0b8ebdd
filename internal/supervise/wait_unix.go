//go:build linux || darwin

package supervise

import (
	"errors"
	"syscall"
)

const codeExited = 1 // CLD_EXITED; the others are signals

func statusOf(code, status int32) Status {
	if code == codeExited {
		return Status{Code: int(status)}
	}
	return Status{Signal: syscall.Signal(status)}
}

// reap takes the status of a child that has ended. It reports whether there was one.
func reap(pid int) (Status, bool) {
	var ws syscall.WaitStatus
	for {
		got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil || got != pid:
			return Status{}, false
		case ws.Signaled():
			return Status{Signal: ws.Signal()}, true
		}
		return Status{Code: ws.ExitStatus()}, true
	}
}
