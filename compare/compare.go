package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/remote"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
)

// A Lab plays jobs.
type Lab interface {
	// Name is what histories of the lab say.
	Name() string
	// Play calls done for all jobs, one at a time and in their order, with a
	// history or an error. When ctx ends it stops soon and returns ctx's error;
	// done was then called for what was finished.
	Play(ctx context.Context, jobs []Job, done func(i int, run history.Run, err error)) error
}

// Virtual is the virtual lab.
type Virtual struct{ Pool *virtual.Pool }

// Name implements Lab.
func (Virtual) Name() string { return virtual.Lab }

// Play implements Lab.
func (v Virtual) Play(ctx context.Context, jobs []Job, done func(int, history.Run, error)) error {
	specs := make([]virtual.Spec, len(jobs))
	for i, j := range jobs {
		specs[i] = virtual.Spec(j)
	}
	return v.Pool.Play(ctx, specs, done)
}

// A Result is what came of a plan.
type Result struct {
	Plan Plan
	Lab  string
	// Cells are those that have runs: guards within modes within faults, as the
	// plan lists them.
	Cells []measure.Cell
	// Worst has for each cell, by its index, the run that went worst: the one with the
	// longest overlap of acts, then of beliefs, then with nobody leading for longest.
	// Of equals it is the one with the smallest seed.
	Worst []Example
	// Runs is how many were measured, Acts how many acts they saw.
	Runs, Acts int
	// Broken lists the rules that were broken, Failed the runs that could not be
	// played.
	Broken []Broken
	Failed []Failed
	// Interrupted says that the context ended before all was played, GaveUp that
	// too many runs failed.
	Interrupted, GaveUp bool
	// Took is real time.
	Took time.Duration
	// Remote is what the lab of the user's own endpoints measured beside the runs; nil
	// for other labs.
	Remote *remote.Figures
}

// An Example is a run that is worth looking at.
type Example struct {
	Job     Job
	Run     history.Run
	Figures measure.Figures
}

// worse reports whether f is worse than what e has.
func (e *Example) worse(f measure.Figures) bool {
	if len(e.Run.Events) == 0 {
		return true
	}
	return cmp.Or(
		cmp.Compare(f.ActOverlap, e.Figures.ActOverlap),
		cmp.Compare(f.BeliefOverlap, e.Figures.BeliefOverlap),
		cmp.Compare(f.Leaderless, e.Figures.Leaderless),
	) > 0
}

// Broken is a rule that a run broke.
type Broken struct {
	Job       Job
	Violation measure.Violation
}

// Failed is a run that could not be played.
type Failed struct {
	Job Job
	Err error
}

// maxFailed is how many runs may fail before there is no sense in going on.
const maxFailed = 20

var errTooMany = errors.New("too many runs failed")

// A Sink is told of every run that was measured, in the order of [Plan.Jobs].
type Sink func(run history.Run, f measure.Figures) error

// Run plays a plan. It calls progress, which may be nil, with the number of runs
// that are done, and sink, which may be nil, with each of them. When ctx ends, or
// 20 runs have failed, it returns what there is and no error. The error is for a plan that is not valid, a
// lab that cannot start and a sink that failed.
func Run(ctx context.Context, p Plan, lab Lab, progress func(done int), sink Sink) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	begin := time.Now()
	lctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &collector{result: Result{Plan: p, Lab: lab.Name()}, jobs: p.Jobs(), cells: map[string]*cell{}, sink: sink}
	err := lab.Play(lctx, c.jobs, func(i int, run history.Run, err error) {
		if err := c.add(i, run, err); err != nil {
			cancel(err)
		}
		if progress != nil {
			progress(i + 1)
		}
	})
	switch {
	case c.err != nil:
		return nil, c.err
	case errors.Is(err, errTooMany):
		c.result.GaveUp = true
	case err != nil && ctx.Err() == nil:
		return nil, err
	}
	c.result.Interrupted = err != nil && !c.result.GaveUp
	c.result.Took = time.Since(begin)
	return c.sum(), nil
}

// collector turns histories into a result.
type collector struct {
	result Result
	jobs   []Job
	cells  map[string]*cell
	sink   Sink
	err    error // of the sink
}

// cell is what is known of a cell so far.
type cell struct {
	measure.Tally
	worst Example
}

// key names a job's cell.
func (j Job) key() string { return j.Fault + "/" + Mode{j.Mode, j.Masters}.String() + "/" + j.Guards }

// add adds what became of a job. The error is why there is no sense in going on.
func (c *collector) add(i int, run history.Run, failed error) error {
	job := c.jobs[i]
	if failed != nil {
		c.result.Failed = append(c.result.Failed, Failed{job, failed})
		if len(c.result.Failed) >= maxFailed {
			return errTooMany
		}
		return nil
	}
	f := measure.Of(run)
	for _, v := range measure.Check(run) {
		c.result.Broken = append(c.result.Broken, Broken{job, v})
	}
	if c.cells[job.key()] == nil {
		c.cells[job.key()] = &cell{}
	}
	into := c.cells[job.key()]
	into.Add(run, f)
	if into.worst.worse(f) {
		into.worst = Example{job, run, f}
	}
	c.result.Runs++
	c.result.Acts += f.Acts
	if c.sink != nil && c.err == nil {
		if err := c.sink(run, f); err != nil {
			c.err = fmt.Errorf("writing results: %w", err)
		}
	}
	return c.err
}

// sum completes the result.
func (c *collector) sum() *Result {
	for _, j := range c.result.Plan.cells() {
		if t := c.cells[j.key()]; t != nil {
			c.result.Cells = append(c.result.Cells, t.Cell())
			c.result.Worst = append(c.result.Worst, t.worst)
		}
	}
	return &c.result
}
