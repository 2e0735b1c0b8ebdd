package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a candidate's process. Signals go to it only, and only until it is
// reaped: never to a number that was read from elsewhere.
type process struct {
	proc   *os.Process
	exited chan struct{} // closed once it is reaped
	state  string        // how it ended; valid after exited
}

const (
	stateTimeout = 10 * time.Second // for the kernel to stop or continue a process
	statePoll    = 250 * time.Microsecond
)

var errEnded = errors.New("the process has ended")

// spawn starts cmd so that it dies with this program. The kernel sends the
// death signal when the thread that forked ends, not the process: so one thread
// is kept, and waits, for as long as the child lives.
func spawn(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = childAttr()
	p := &process{exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.proc = cmd.Process
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // the state says more than the error
		p.state = cmd.ProcessState.String()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) signal(sig os.Signal) error {
	err := p.proc.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return errEnded
	}
	return err
}

// awaitStopped waits until the kernel says that the process is stopped, or that
// it is not.
func (p *process) awaitStopped(want bool) error {
	limit := time.NewTimer(stateTimeout)
	defer limit.Stop()
	tick := time.NewTicker(statePoll)
	defer tick.Stop()
	for {
		if now, err := isStopped(p.proc.Pid); err == nil && now == want {
			return nil
		}
		select {
		case <-p.exited:
			return errEnded
		case <-limit.C:
			return fmt.Errorf("process %d did not change its state within %s", p.proc.Pid, stateTimeout)
		case <-tick.C:
		}
	}
}

func (p *process) freeze() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return p.awaitStopped(true)
}

func (p *process) thaw() error {
	if err := p.signal(syscall.SIGCONT); err != nil {
		return err
	}
	return p.awaitStopped(false)
}
