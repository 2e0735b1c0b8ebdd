package proof_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"incumbent/internal/process"
)

// candidate is a candidate's process, seen from the test.
type candidate struct {
	name    string
	proc    *process.Process
	in      *os.File
	drained chan struct{} // closed once all that it wrote was read

	// The contest's mu guards these.
	held   bool // a check waits for an answer
	heldAt int  // where the last one stands in the contest's lines
}

// launch starts a candidate. hear gets what it tells, and gone is called when
// all is told and the process has ended.
func launch(cfg childConfig, hear func(*candidate, line), gone func(*candidate)) (*candidate, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	c := &candidate{name: cfg.Name, drained: make(chan struct{})}
	out, err := c.start(cmd)
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(c.drained)
		defer out.Close()
		s := bufio.NewScanner(out)
		for s.Scan() {
			var l line
			if err := json.Unmarshal(s.Bytes(), &l); err != nil {
				l = line{Kind: "unreadable", At: monotonic(), Err: s.Text()}
			}
			l.Who = c.name
			hear(c, l)
		}
		<-c.proc.Exited()
		gone(c)
	}()
	return c, nil
}

// start connects pipes of our own, since those of exec.Cmd close before all is
// read when the process ends.
func (c *candidate) start(cmd *exec.Cmd) (out *os.File, err error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	defer childOut.Close()
	cmd.Stdin, cmd.Stdout = childIn, childOut
	if c.proc, err = process.Start(cmd); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	c.in = in
	return out, nil
}

// stop ends the process, paused or not, and reports how it ended unless that was
// in order.
func (c *candidate) stop() error {
	_ = c.in.Close()
	_ = c.proc.Signal(syscall.SIGCONT) // an error means that it has ended
	grace := time.NewTimer(patience)
	defer grace.Stop()
	select {
	case <-c.proc.Exited():
	case <-interrupted.Done():
		err := c.proc.Kill()
		<-c.drained
		return err
	case <-grace.C:
		_ = c.proc.Kill() // its state says so
	}
	<-c.drained
	if state := c.proc.State(); state != "exit status 0" {
		return fmt.Errorf("%s: %s", c.name, state)
	}
	return nil
}
