package local

import (
	"context"
	"io"
	"time"

	"incumbent/compare/history"
)

// A Spec says what one run is. Its fields are those of the virtual lab's.
type Spec struct {
	// Seed draws when the fault strikes and how long it lasts. It does not make
	// a run repeatable.
	Seed uint64
	// Mode is single or quorum, Masters how many servers run.
	Mode    string
	Masters int
	// Fault is a name of package fault.
	Fault string
	// TTL of leases.
	TTL time.Duration
	// Candidates is how many take part.
	Candidates int
}

// Play plays all specs one after another, each in a lab of its own, and calls
// done for each of them with either a history or an error. When ctx ends it
// stops, and returns ctx's error. stderr gets what candidates log; nil drops it.
func Play(ctx context.Context, specs []Spec, stderr io.Writer, done func(i int, run history.Run, err error)) error {
	for i, s := range specs {
		run, err := s.play(ctx, stderr)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		done(i, run, err)
	}
	return nil
}

// runTimeout is how many TTLs a run may take in all, beside a start of servers
// and processes: far more than any fault lasts.
const (
	runTimeout   = 20
	startTimeout = time.Minute
)

func (s Spec) play(ctx context.Context, stderr io.Writer) (history.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout+runTimeout*s.TTL)
	defer cancel()
	l, err := Open(ctx, Options{
		Mode: s.Mode, Masters: s.Masters, Candidates: s.Candidates, TTL: s.TTL, Seed: s.Seed,
		Proxies: s.Fault == partition, Stderr: stderr,
	})
	if err != nil {
		return history.Run{}, err
	}
	defer l.Close()
	return l.Run(ctx, s.Fault)
}

// partition is the one fault that needs proxies. Others do without what those
// add to each call.
const partition = "partition"
