package remote

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/config"
)

// A Player plays runs at an open set, one at a time: masters then see one election and
// nothing else. The program that uses it must call local.ChildMain and ChildMain first.
type Player struct {
	Set *Set
	// ID has one election for each mode, to measure with, and one for each run.
	ID ID
	// Samples is how many PINGs and renewals are measured. 0 means the constant.
	Samples int

	figures Figures
	used    int // elections that may have left keys
}

// Elections is how many elections so many runs need.
func (s *Set) Elections(runs int) int { return len(s.targets) + runs }

// Figures are what Play measured beside the runs, and what it removed.
func (p *Player) Figures() Figures { return p.figures }

// Play measures, plays all specs, and removes all keys: also when ctx ends, or when
// something fails. It calls done for each run with either a history or an error. When
// ctx ends it stops, and returns ctx's error. Any other error means that masters did
// not let it measure; then nothing was played.
func (p *Player) Play(ctx context.Context, specs []local.Spec, done func(i int, run history.Run, err error)) error {
	p.figures.Keys = p.ID.Keys(p.Set.Prefix)
	w, err := p.Set.sweep(p.ID)
	if err != nil {
		return fmt.Errorf("remote: start who removes keys after a crash: %w", err)
	}
	defer func() { _ = w.dismiss() }() // it has nothing left to do
	defer p.tidy()
	if err := p.measure(ctx); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("remote: %w", err)
	}
	for i, s := range specs {
		run, err := p.play(ctx, s, p.next())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		done(i, run, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// next is the name of an election that nobody has used.
func (p *Player) next() string {
	p.used++
	return p.ID.Election(p.used - 1)
}

// measure is what is done before the runs. It stops at the first thing that a master
// refuses.
func (p *Player) measure(ctx context.Context) (err error) {
	n := cmp.Or(p.Samples, Samples)
	if p.figures.RTT, err = p.Set.rtt(ctx, n); err != nil {
		return err
	}
	p.figures.Floors = FloorPTTL
	for _, t := range p.Set.targets {
		name := p.next()
		r, floors, err := t.renewal(ctx, name, n)
		if err == nil {
			err = t.hear(ctx, name)
		}
		if err != nil {
			return err
		}
		p.figures.Renewal = append(p.figures.Renewal, r)
		if floors != FloorPTTL {
			p.figures.Floors = floors
		}
	}
	return nil
}

// A run may take runTimeout TTLs and runSlack, far more than any fault lasts.
const (
	runTimeout = 25
	runSlack   = 30 * time.Second
)

// play plays one run in an election of its own, and removes its keys.
func (p *Player) play(ctx context.Context, s local.Spec, name string) (run history.Run, err error) {
	t := p.Set.target(s.Mode)
	if t == nil {
		return run, &ModeError{config.Mode(s.Mode), ErrSection}
	}
	if err := Supports(s); err != nil {
		return run, err
	}
	f, err := playing(s)
	if err != nil {
		return run, err
	}
	limit := runSlack + runTimeout*s.TTL
	if s.Schedule != nil {
		limit += fault.MaxLength * s.TTL
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var log tail
	l, err := local.Open(ctx, local.Options{
		Mode: s.Mode, Candidates: s.Candidates, TTL: s.TTL, Renew: s.Renew, Seed: s.Seed, Proxies: true,
		GuardsOff: s.Guards == history.GuardsOff, Election: name, Prefix: p.Set.Prefix, Stderr: &log,
		Far: &local.Far{Lab: Name, Sources: t.withGuards(s.Guards == history.GuardsOff), Client: t.client},
	})
	if err != nil {
		return run, err
	}
	run, err = l.PlayLast(ctx, f)
	l.Close()
	p.figures.Removed.Keys += p.Set.Remove(context.WithoutCancel(ctx), []string{name}).Keys // who was missed is asked again in the end
	run.Guards = cmp.Or(s.Guards, history.GuardsOn)
	if last := log.last(); err != nil && last != "" {
		err = fmt.Errorf("%w; a candidate's last words: %s", err, last)
	}
	return run, err
}

// playing is the fault that a run plays.
func playing(s local.Spec) (fault.Fault, error) {
	if s.Schedule != nil {
		return s.Schedule.Fault(), s.Schedule.Validate()
	}
	return fault.ByName(s.Fault)
}

// leftovers is what a request that a killed candidate had sent may take to arrive.
const leftovers = 50 * time.Millisecond

// tidy removes the keys of all elections so far, once nothing of them is on its way.
func (p *Player) tidy() {
	wait := leftovers
	for _, r := range p.figures.RTT {
		wait = max(wait, time.Duration(3*r.P99*float64(time.Millisecond)))
	}
	time.Sleep(min(wait, time.Second))
	r := p.Set.Remove(context.Background(), p.ID.Names(p.used))
	p.figures.Removed.Keys += r.Keys
	p.figures.Removed.Missed = r.Missed
}
