// Package process starts child processes that do not outlive their parent, and
// signals them, only them, and only until they are reaped.
//
// What it does not promise: on systems other than Linux nothing ends the child
// of a parent that was killed.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// ErrEnded says that the process has ended.
var ErrEnded = errors.New("the process has ended")

const (
	stateTimeout = 10 * time.Second // for the kernel to stop or continue a process
	statePoll    = 250 * time.Microsecond
)

// A Process is a running child.
type Process struct {
	proc   *os.Process
	exited chan struct{}
	state  string
}

// Start starts cmd, whose SysProcAttr is the package's to set, so that it dies
// with this program. The kernel sends the death signal when the thread that
// forked ends, not the process: so one thread is kept, and waits, for as long as
// the child lives.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = childAttr()
	p := &Process{exited: make(chan struct{})}
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

// PID is the process id. It may be another's once the process is reaped.
func (p *Process) PID() int { return p.proc.Pid }

// Exited is closed once the process is reaped.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// State says how the process ended. It waits until it has.
func (p *Process) State() string {
	<-p.exited
	return p.state
}

// Running reports whether the process is not reaped yet.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Signal sends a signal. The error is ErrEnded once the process is reaped: a
// recycled process id is never hit.
func (p *Process) Signal(sig os.Signal) error {
	err := p.proc.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return ErrEnded
	}
	return err
}

// Kill ends the process at once and returns when it is reaped.
func (p *Process) Kill() error {
	if err := p.Signal(os.Kill); err != nil && !errors.Is(err, ErrEnded) {
		return err
	}
	<-p.exited
	return nil
}

// Terminate asks the process to end, kills it after grace, and returns when it
// is reaped.
func (p *Process) Terminate(grace time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err == nil {
		_ = p.Signal(syscall.SIGCONT) // a stopped one would not hear it
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.exited:
		return nil
	case <-t.C:
		return p.Kill()
	}
}

// Pause stops the process, and returns once the kernel says so.
func (p *Process) Pause() error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return p.AwaitStopped(true)
}

// Resume lets a stopped process go on, and returns once the kernel says so.
func (p *Process) Resume() error {
	if err := p.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	return p.AwaitStopped(false)
}

// AwaitStopped waits until the kernel says that the process is stopped, or that
// it is not; ErrEnded if it ends before, and another error after ten seconds.
func (p *Process) AwaitStopped(want bool) error { return p.AwaitState(want, stateTimeout) }

// ErrUnchanged says that a process did not change its state in time.
var ErrUnchanged = errors.New("the process did not change its state")

// AwaitState is AwaitStopped with a limit of its own, after which the error is
// ErrUnchanged.
func (p *Process) AwaitState(stopped bool, within time.Duration) error {
	limit := time.NewTimer(within)
	defer limit.Stop()
	tick := time.NewTicker(statePoll)
	defer tick.Stop()
	for {
		if now, err := isStopped(p.proc.Pid); err == nil && now == stopped {
			return nil
		}
		select {
		case <-p.exited:
			return ErrEnded
		case <-limit.C:
			return fmt.Errorf("process %d: %w within %s", p.proc.Pid, ErrUnchanged, within)
		case <-tick.C:
		}
	}
}
