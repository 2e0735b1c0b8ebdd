package redisproc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// process is one run of the server binary.
type process struct {
	proc   *os.Process
	exited chan struct{} // closed once the process is reaped
	state  string        // how it ended; valid after exited
}

// spawn starts cmd so that it dies with this program. The kernel sends the
// death signal when the thread that forked ends, not the process: so a
// goroutine keeps its thread, and waits on it, for as long as the child lives.
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

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// signal sends to the child only: os.Process refuses once it is reaped, so a
// recycled process id is never hit.
func (p *process) signal(sig os.Signal) error {
	err := p.proc.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return ErrNotRunning
	}
	return err
}

// kill ends the process at once and returns when it is reaped.
func (p *process) kill() error {
	if err := p.signal(os.Kill); err != nil && !errors.Is(err, ErrNotRunning) {
		return err
	}
	<-p.exited
	return nil
}

// terminate asks the process to end, and kills it after grace.
func (p *process) terminate(grace time.Duration) error {
	if err := p.signal(sigTerm); err == nil {
		_ = p.signal(sigCont) // a paused one would not hear it
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.exited:
		return nil
	case <-t.C:
		return p.kill()
	}
}
