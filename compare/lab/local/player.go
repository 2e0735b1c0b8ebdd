package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/redisproc"
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
	// Guards of the store: on or off. "" means on.
	Guards string
	// TTL of leases.
	TTL time.Duration
	// Candidates is how many take part.
	Candidates int
	// Renew is the longest time between two renewals; 0 means TTL/3.
	Renew time.Duration
	// Link, Loss and Drift are for simulations: this lab has the network and the
	// clocks of its machine. Link may be lan.
	Link  string
	Loss  float64
	Drift float64
	// Schedule is played in place of a fault; nil if there is none. Fault is its name.
	Schedule *fault.Schedule
}

// fault is what is played.
func (s Spec) fault() (fault.Fault, error) {
	if s.Schedule != nil {
		return s.Schedule.Fault(), s.Schedule.Validate()
	}
	return fault.ByName(s.Fault)
}

// needs are those of what is played.
func (s Spec) needs(f fault.Fault) needs {
	if s.Schedule != nil {
		return needsOfAll(s.Schedule.Steps)
	}
	return needsOf(f)
}

// options are those of the run's lab.
func (s Spec) options(f fault.Fault) Options {
	need := s.needs(f)
	return Options{
		Mode: s.Mode, Masters: s.Masters, Candidates: s.Candidates, TTL: s.TTL, Renew: s.Renew, Seed: s.Seed,
		Proxies: need.links, GuardsOff: s.Guards == history.GuardsOff, ReplicaAcks: f.Acks,
		spares: need.spares, clocks: need.clocks,
	}
}

// A Player plays runs, each with candidates of its own. Servers that a run has left
// in good health are cleared and used again. The zero value plays one run at a time.
type Player struct {
	// ServerBinary and FakeTime are as in Options.
	ServerBinary, FakeTime string
	// Sentinels has promotions made by real sentinels, whom candidates ask for the
	// primary. Nothing else is played then, and only in single mode.
	Sentinels bool
	// Workers is how many runs are played side by side. 0 means 1. With more they
	// disturb each other, which shows in their figures.
	Workers int
	// Stderr gets what candidates log, from several goroutines if there are several
	// workers. nil drops it.
	Stderr io.Writer

	patience time.Duration // see stock
}

// Supports is nil for a run that this lab can play on this machine. The error wraps
// fault.ErrUnsupported where it never can, or lacks a library.
func (p *Player) Supports(s Spec) error {
	f, err := s.fault()
	switch {
	case err != nil:
		return fmt.Errorf("local: %w", err)
	case s.Link != "" && s.Link != "lan" || s.Loss != 0 || s.Drift != 0:
		return fmt.Errorf("local: link, loss and drift are for simulations: %w", fault.ErrUnsupported)
	case p.Sentinels && (s.Mode != "single" || s.Schedule != nil || !slices.Contains(sentinelFaults, s.Fault)):
		return fmt.Errorf("%s in %s: %w", s.Fault, s.Mode, errNoSentinelFault)
	case s.Schedule == nil:
		return supports(f, p.FakeTime)
	}
	for _, step := range s.Schedule.Steps {
		f, err := fault.ByName(step.Fault)
		if err == nil {
			err = supports(f, p.FakeTime)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Ready is an error where there is no server program to play with.
func (p *Player) Ready() error {
	_, err := redisproc.LookPath(p.ServerBinary)
	switch {
	case err == nil:
		return nil
	case p.ServerBinary == "":
		return fmt.Errorf("%w in PATH: install the package redis-server or valkey-server, or name the program", redisproc.ErrNoBinary)
	}
	var cause *redisproc.Error
	if errors.As(err, &cause) {
		err = cause.Err // its remedy is for programmers
	}
	return fmt.Errorf("%s: must be an executable redis-server or valkey-server: %w", p.ServerBinary, err)
}

// Play plays all specs, and calls done for each of them with either a history or an
// error, one at a time and in their order. When ctx ends it stops, and returns ctx's
// error; done was then called for what was finished. Nothing that it started runs any
// more when it returns. Another error means that nothing was played: there is no server
// program, it does not work, or there is no room for its files.
func (p *Player) Play(ctx context.Context, specs []Spec, done func(i int, run history.Run, err error)) error {
	if err := p.Ready(); err != nil {
		return fmt.Errorf("local: %w", err)
	}
	stocks, err := p.open(ctx, specs)
	if err != nil {
		return fmt.Errorf("local: %w", err)
	}
	q := &queue{specs: specs, ready: map[int]result{}, done: done}
	var wg sync.WaitGroup
	for range max(1, p.Workers) {
		wg.Go(func() {
			for i, ok := q.take(ctx); ok; i, ok = q.take(ctx) {
				run, err := p.play(ctx, stocks, specs[i])
				if ctx.Err() == nil {
					q.put(i, result{run, err})
				}
			}
		})
	}
	wg.Wait()
	err = stocks.close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// stocks are those of servers with the right time, and of those whose clocks can be
// set.
type stocks struct{ plain, clocks *stock }

// open makes what the specs need.
func (p *Player) open(ctx context.Context, specs []Spec) (st stocks, err error) {
	for _, s := range specs {
		f, bad := s.fault()
		if bad != nil || p.Supports(s) != nil {
			continue // who plays it says why not
		}
		into, clocks := &st.plain, s.needs(f).clocks
		if clocks {
			into = &st.clocks
		}
		if *into == nil {
			if *into, err = newStock(p.ServerBinary, p.FakeTime, clocks); err == nil {
				(*into).patience = p.patience
				err = (*into).prove(ctx)
			}
			if err != nil {
				_ = st.close() // nothing follows from a folder that stays
				return st, err
			}
		}
	}
	return st, nil
}

func (st stocks) close() (err error) {
	for _, s := range []*stock{st.plain, st.clocks} {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	return err
}

// A run may take runTimeout TTLs and runSlack in all, beside a start of servers and
// processes: far more than any fault lasts.
const (
	runTimeout   = 60
	runSlack     = 30 * time.Second
	startTimeout = time.Minute
)

// play plays one run.
func (p *Player) play(ctx context.Context, st stocks, s Spec) (history.Run, error) {
	if err := p.Supports(s); err != nil {
		return history.Run{}, err
	}
	f, err := s.fault()
	if err != nil {
		return history.Run{}, err
	}
	limit := startTimeout + runSlack + runTimeout*s.TTL
	if s.Schedule != nil {
		limit += fault.MaxLength * s.TTL
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	o := s.options(f)
	o.Stderr, o.FakeTime, o.stock = p.Stderr, p.FakeTime, st.plain
	if p.Sentinels {
		o.Sentinels, o.Proxies, o.spares = true, false, 0
	}
	if o.clocks {
		o.stock = st.clocks
	}
	l, err := Open(ctx, o)
	if err != nil {
		return history.Run{}, err
	}
	defer l.Close()
	run, err := l.playOnce(ctx, f)
	run.Guards = cmp.Or(s.Guards, history.GuardsOn)
	return run, err
}

// queue hands out specs in their order, and results, too.
type queue struct {
	specs []Spec
	done  func(int, history.Run, error)

	mu    sync.Mutex
	taken int
	told  int
	ready map[int]result // played before an earlier one was
}

type result struct {
	run history.Run
	err error
}

// take is the next spec's index; false when there is none, or ctx has ended.
func (q *queue) take(ctx context.Context) (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ctx.Err() != nil || q.taken == len(q.specs) {
		return 0, false
	}
	q.taken++
	return q.taken - 1, true
}

// put tells what is next to be told.
func (q *queue) put(i int, r result) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready[i] = r
	for next, ok := q.ready[q.told]; ok; next, ok = q.ready[q.told] {
		delete(q.ready, q.told)
		q.done(q.told, next.run, next.err)
		q.told++
	}
}
