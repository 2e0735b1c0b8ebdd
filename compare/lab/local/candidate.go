package local

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"incumbent/compare/history"
	"incumbent/internal/process"
)

// candidate is a candidate's process, seen from the lab.
type candidate struct {
	name    string
	slot    int // which of the lab's candidates it is; a successor has the same
	proc    *process.Process
	in      *os.File
	drained chan struct{} // closed once all that it wrote was read
}

// launch starts the process of a candidate.
func (l *Lab) launch(name string, slot int) (*candidate, error) {
	cfg, err := json.Marshal(childConfig{
		Name: name, Mode: l.opt.Mode, Masters: l.addresses(slot), Election: l.opt.Election, Prefix: l.opt.Prefix,
		TTL: l.opt.TTL, Renew: l.opt.Renew, StepDown: l.opt.StepDown, ActEvery: l.opt.ActEvery,
		Plain: l.opt.PlainClients, Stubborn: l.opt.Stubborn, Trace: l.opt.Trace,
		Unguard: l.opt.GuardsOff, Acks: l.opt.ReplicaAcks, Sentinels: l.sentinels.addrs(), Far: l.farConfig(slot),
	})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(withoutSettings(os.Environ()), childEnv+"=yes")
	cmd.Stderr = l.opt.Stderr
	c := &candidate{name: name, slot: slot, drained: make(chan struct{})}
	out, err := c.start(cmd)
	if err != nil {
		return nil, err
	}
	if err := c.tell(string(cfg)); err != nil {
		err = fmt.Errorf("configure it: %w", err)
		close(c.drained)
		c.stop(0)
		return nil, errors.Join(err, out.Close())
	}
	go func() {
		defer close(c.drained)
		defer out.Close()
		l.hear(out)
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

// hear records all that a candidate tells. Whatever else it prints, such as a
// panic, is kept as a note.
func (l *Lab) hear(out io.Reader) {
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var line Line
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			line = Line{Event: history.Event{At: monotonic(), Kind: history.Note, Name: "unreadable", Err: s.Text()}}
		}
		if line.Kind == kindAct {
			line = l.resource.arrive(line)
		}
		l.rec.add(line)
	}
}

func (c *candidate) tell(word string) error {
	_, err := io.WriteString(c.in, word+"\n")
	return err
}

// kill ends the process at once, and returns when it is reaped and all that it
// had said is heard. at is when it was struck.
func (c *candidate) kill() (at time.Duration, err error) {
	err = c.proc.Signal(os.Kill)
	at = monotonic()
	if err != nil {
		return at, err
	}
	<-c.proc.Exited()
	<-c.drained
	return at, c.in.Close()
}

// stop ends the process in whatever state it is, orderly where it can.
func (c *candidate) stop(grace time.Duration) {
	_ = c.in.Close()            // it exits at the end of its input
	_ = c.proc.Terminate(grace) // an error means that it has ended
	<-c.drained
}

// fleet is the lab's candidates, by slot.
type fleet struct {
	mu   sync.Mutex
	all  []*candidate
	born []int // how many processes each slot had
}

// name is the name of the slot's next process: c1, then c1.2 and so on.
func (f *fleet) name(slot int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.born[slot]++
	if f.born[slot] == 1 {
		return fmt.Sprintf("c%d", slot+1)
	}
	return fmt.Sprintf("c%d.%d", slot+1, f.born[slot])
}

// running lists the candidates whose processes have not ended.
func (f *fleet) running() (list []*candidate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.all {
		if c != nil && c.proc.Running() {
			list = append(list, c)
		}
	}
	return list
}

func (f *fleet) set(slot int, c *candidate) {
	f.mu.Lock()
	f.all[slot] = c
	f.mu.Unlock()
}

// at is the latest candidate of a slot; nil before there is one.
func (f *fleet) at(slot int) *candidate {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[slot]
}

// find is the candidate of that name; nil when its process was replaced or has
// ended.
func (f *fleet) find(name string) *candidate {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.all {
		if c != nil && c.name == name && c.proc.Running() {
			return c
		}
	}
	return nil
}
