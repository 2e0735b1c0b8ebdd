package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"
)

// Run measures. It starts servers if none are given, ends them, and removes all keys
// that it wrote, also when ctx ends before it is done; the error then wraps the cause of
// that. Where something may be left all the same, it also wraps a *CleanError. Options
// that make no sense are an *OptionError. It blocks for some seconds more
// than Options.Time. Run it where nothing else runs, and one at a time in a process.
func Run(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	f, err := openFarm(ctx, o, masters(o.Modes))
	if err != nil {
		return nil, err
	}
	r, err := measure(ctx, o, f)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	if err := errors.Join(err, cleaned(f.close())); err != nil {
		return nil, err
	}
	return r, nil
}

// measure counts first, and times then.
func measure(ctx context.Context, o Options, f *farm) (*Result, error) {
	r := &Result{Seed: o.Seed, CPUs: runtime.GOMAXPROCS(0)}
	for _, e := range f.endpoints {
		r.Servers = append(r.Servers, e.addr())
	}
	counts, version, err := countAll(ctx, o, f)
	if err != nil {
		return nil, err
	}
	r.Server = version
	rig, err := openRig(ctx, f.endpoints, o.Modes, nil)
	if err == nil {
		err = timeAll(ctx, o, rig, r)
	}
	if err := errors.Join(err, cleaned(rig.close(ctx))); err != nil {
		return nil, err
	}
	for i := range r.Ops {
		r.Ops[i].Counts = counts[i]
	}
	return r, nil
}

// countAll counts commands and bytes of all operations, over connections of its own.
func countAll(ctx context.Context, o Options, f *farm) (counts []Counts, version string, err error) {
	var counters []*counter
	for range f.endpoints {
		counters = append(counters, new(counter))
	}
	rig, err := openRig(ctx, f.endpoints, o.Modes, counters)
	defer func() { err = errors.Join(err, cleaned(rig.close(ctx))) }()
	if err != nil {
		return nil, "", err
	}
	var meters []*meter
	for i, e := range f.endpoints {
		m, err := openMeter(ctx, e, counters[i])
		if err != nil {
			return nil, "", err
		}
		defer func() { _ = m.close() }() // it only read
		meters = append(meters, m)
	}
	if version, err = meters[0].version(ctx); err != nil {
		return nil, "", err
	}
	for _, op := range rig.ops {
		c, err := count(ctx, op, meters[:op.Masters])
		if err != nil {
			return nil, "", err
		}
		counts = append(counts, c)
	}
	return counts, version, nil
}

// timeAll counts allocations, plays all rounds, and sums up.
func timeAll(ctx context.Context, o Options, rig *rig, r *Result) error {
	samples := make([]samples, len(rig.ops))
	heaps := make([]Heap, len(rig.ops))
	for i, op := range rig.ops {
		if o.plant != nil {
			o.plant(op)
		}
		var err error
		if heaps[i], err = allocations(context.WithoutCancel(ctx), op); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	var err error
	if r.Rounds, err = playRounds(ctx, o, rig.ops, samples); err != nil {
		return err
	}
	for i, op := range rig.ops {
		r.Ops = append(r.Ops, samples[i].sumUp(op.Op, heaps[i]))
	}
	return r.relate()
}

// playRounds plays all blocks of all rounds, and returns how many rounds there were:
// fewer than asked for when they take much longer than they should.
func playRounds(ctx context.Context, o Options, ops []*operation, to []samples) (rounds int, err error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	p := pace{begin: time.Now(), time: o.Time, round: len(ops) * twins, total: o.Rounds * len(ops) * twins}
	g := holdGarbage()
	defer g.release()
	for rounds < o.Rounds && !p.over() {
		for i := range to {
			to[i].rounds = append(to[i].rounds, [twins][]time.Duration{})
		}
		for _, s := range order(rng, len(ops)) {
			g.collect()
			took, err := timeBlock(ctx, ops[s.op], p.share())
			if err != nil {
				return rounds, err
			}
			to[s.op].add(s.twin, took)
			if p.done++; o.Progress != nil {
				o.Progress(p.done, p.expected())
			}
		}
		rounds++
	}
	return rounds, nil
}

// relate compares each operation with its floor, round by round.
func (r *Result) relate() error {
	for i := range r.Ops {
		m := &r.Ops[i]
		floor := r.Op(m.Floor, "")
		if floor == nil {
			return fmt.Errorf("%s: no floor %q was measured", m.Op, m.Floor)
		}
		var ratios []float64
		for k := range m.Rounds {
			m.Rounds[k].XFloor = m.Rounds[k].P50 / floor.Rounds[k].P50
			ratios = append(ratios, m.Rounds[k].XFloor)
		}
		m.XFloor = interval(ratios)
	}
	return nil
}
