package virtual

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"

	"incumbent/compare/history"
)

// A Pool plays runs in child processes.
type Pool struct {
	// Workers is how many processes there are; 0 means one a core.
	Workers int
	// Command makes the command of a process that calls [Worker] with its
	// standard input and output. Those and standard error are the pool's to set.
	Command func() *exec.Cmd
}

// ErrDied is the error of a run during which its process died.
var ErrDied = errors.New("the process that played it died")

// Play plays all specs and calls done for each of them, one at a time and in the
// order of specs, with either a history or an error. When ctx ends it stops soon,
// after done was called for what is finished, and returns ctx's error. Other errors
// are for processes that cannot be started.
func (p *Pool) Play(ctx context.Context, specs []Spec, done func(i int, run history.Run, err error)) error {
	n := p.Workers
	if n <= 0 {
		n = runtime.NumCPU()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := &queue{specs: specs}
	outcomes := make(chan outcome, n)
	var wg sync.WaitGroup
	for range min(n, len(specs)) {
		wg.Go(func() {
			if err := p.serve(ctx, q, outcomes); err != nil {
				cancel(err)
			}
		})
	}
	go func() {
		wg.Wait()
		close(outcomes)
	}()
	inOrder(outcomes, done)
	return context.Cause(ctx)
}

// outcome is what became of the spec with that index.
type outcome struct {
	i   int
	run history.Run
	err error
}

// inOrder hands on outcomes by their index. Where some are missing in the end, the
// later ones still come.
func inOrder(outcomes <-chan outcome, done func(int, history.Run, error)) {
	early := map[int]outcome{}
	next, last := 0, -1
	for o := range outcomes {
		early[o.i] = o
		last = max(last, o.i)
		for ; len(early) > 0; next++ {
			o, ok := early[next]
			if !ok {
				break
			}
			delete(early, next)
			done(next, o.run, o.err)
		}
	}
	for ; next <= last; next++ {
		if o, ok := early[next]; ok {
			done(next, o.run, o.err)
		}
	}
}

// queue holds what is still to be played.
type queue struct {
	specs []Spec

	mu    sync.Mutex
	next  int
	again []int // taken by a process that died
}

// take returns the next order; false if there is none.
func (q *queue) take() (order, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.again); n > 0 {
		i := q.again[n-1]
		q.again = q.again[:n-1]
		return order{i, q.specs[i]}, true
	}
	if q.next == len(q.specs) {
		return order{}, false
	}
	q.next++
	return order{q.next - 1, q.specs[q.next-1]}, true
}

// putBack returns orders that nobody has played.
func (q *queue) putBack(orders []order) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, o := range orders {
		q.again = append(q.again, o.ID)
	}
}

// maxStillborn is how many processes in a row may die before they have played
// anything.
const maxStillborn = 3

// serve keeps one process busy, and replaces it when it dies.
func (p *Pool) serve(ctx context.Context, q *queue, outcomes chan<- outcome) error {
	for stillborn := 0; ctx.Err() == nil; {
		c, err := p.start(ctx)
		if err != nil {
			return fmt.Errorf("starting a worker process: %w", err)
		}
		played, err := c.play(ctx, q, outcomes)
		switch {
		case err == nil:
			return nil
		case played > 0:
			stillborn = 0
		default:
			stillborn++
		}
		if stillborn == maxStillborn {
			return fmt.Errorf("%d worker processes died in a row: %w", stillborn, err)
		}
	}
	return nil
}
