package virtual

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// ahead is how many orders a process has, so that it need not wait for one.
	ahead = 2
	// grace is how long a process may go on when the pool is to stop.
	grace = 2 * time.Second
)

// child is a worker process, seen from its parent.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	orders  *json.Encoder
	results *gob.Decoder
	stderr  *head
	release func() bool // ends the watch on the context
}

// start starts a process. It is killed some time after ctx has ended.
func (p *Pool) start(ctx context.Context) (*child, error) {
	cmd := p.Command()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// One bubble keeps one core busy.
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	c := &child{cmd: cmd, stderr: &head{}}
	cmd.Stderr = c.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c.in, c.orders, c.results = in, json.NewEncoder(in), gob.NewDecoder(out)
	c.release = context.AfterFunc(ctx, func() {
		// Killing a process that has been waited for does nothing.
		time.AfterFunc(grace, func() { _ = cmd.Process.Kill() })
	})
	return c, nil
}

// play has the process play orders until there are none or ctx ends. The error is
// that of a process that died before, or was of no more use; played counts the
// histories and errors that were handed on.
func (c *child) play(ctx context.Context, q *queue, outcomes chan<- outcome) (played int, err error) {
	var waiting []order
	for {
		for len(waiting) < ahead && ctx.Err() == nil {
			o, ok := q.take()
			if !ok {
				break
			}
			waiting = append(waiting, o)
			_ = c.orders.Encode(o) // a process that cannot be written to cannot be read from either
		}
		if len(waiting) == 0 {
			_, _ = c.wait()
			return played, nil
		}
		var r result
		if err := c.results.Decode(&r); err != nil || r.ID != waiting[0].ID {
			return played, c.died(ctx, q, waiting, outcomes)
		}
		played++
		spec := waiting[0].Spec
		waiting = waiting[1:]
		if r.Err != "" {
			q.putBack(waiting)
			err := fmt.Errorf("%s: %s", spec, r.Err)
			outcomes <- outcome{i: r.ID, err: err}
			_, _ = c.wait() // it ends by itself
			return played, err
		}
		outcomes <- outcome{i: r.ID, run: r.Run}
	}
}

// died blames the first order that was not answered, and puts back the others.
func (c *child) died(ctx context.Context, q *queue, waiting []order, outcomes chan<- outcome) error {
	status, said := c.wait()
	q.putBack(waiting[1:])
	err := fmt.Errorf("%s: %w (%s): %s", waiting[0].Spec, ErrDied, status, said)
	if ctx.Err() == nil {
		outcomes <- outcome{i: waiting[0].ID, err: err}
	}
	return err
}

// wait lets the process end, and returns how it did and what it said last.
func (c *child) wait() (status, said string) {
	_ = c.in.Close()
	err := c.cmd.Wait()
	c.release()
	status = "exit status 0"
	if err != nil {
		status = err.Error()
	}
	return status, c.stderr.String()
}

// head keeps the beginning of what is written to it: a Go program that dies says
// first why.
type head struct {
	mu   sync.Mutex
	text strings.Builder
}

// maxHead is enough for the stacks of a run that is stuck; see explain.
const maxHead = 128 << 10

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p[:min(len(p), maxHead-h.text.Len())])
	return len(p), nil
}

// String is what was kept.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.Len() == 0 {
		return "it said nothing"
	}
	return strings.TrimSpace(h.text.String())
}
