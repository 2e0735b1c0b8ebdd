package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// Name is what histories of this lab say.
const Name = history.Local

// How many TTLs things may take, as in the virtual lab: the successor of a leader that
// was struck; one after a fault of the store, which a leader may outlive; and whoever
// leads in the end. guardTime is what restart guards take on top.
const (
	patience       = 5
	successorLimit = 4
	outlived       = 1.5
	recoverLimit   = 3
	guardTime      = 2500 * time.Millisecond
)

// Leaders are struck up to so far into a settled term, in hundredths of a TTL:
// before their first renewal as well as after it. For a lease that is given
// back that makes no difference.
const (
	phase         = 50
	phaseReleased = 5
)

// maxMissed is how often a fault may find nobody to strike.
const maxMissed = 5

// Run lets one fault of package fault strike, at a random moment, and returns what
// happened from the start of the term on that was struck. See Play.
func (l *Lab) Run(ctx context.Context, name string) (history.Run, error) {
	f, err := fault.ByName(name)
	if err != nil {
		return history.Run{}, fmt.Errorf("local: %w", err)
	}
	return l.Play(ctx, f)
}

// Play lets a fault strike once somebody leads and all others stand by, waits for what
// comes of it and ends it, in the order in which the virtual lab does. Whoever was
// killed is replaced; what was done to masters stays. A resignation strikes when the
// struck term ends: being told takes no part in it. A run without a successor is no
// error. What the lab cannot do is fault.ErrUnsupported. ctx bounds the whole.
func (l *Lab) Play(ctx context.Context, f fault.Fault) (history.Run, error) {
	if err := supports(f, l.opt.FakeTime); err != nil {
		return history.Run{}, err
	}
	run, err := l.playOnce(ctx, f)
	return run, errors.Join(err, l.replace())
}

// PlayLast is Play for a lab that is closed next: whoever was killed is not replaced.
func (l *Lab) PlayLast(ctx context.Context, f fault.Fault) (history.Run, error) {
	if err := supports(f, l.opt.FakeTime); err != nil {
		return history.Run{}, err
	}
	return l.playOnce(ctx, f)
}

// playOnce is Play where nobody plays after it.
func (l *Lab) playOnce(ctx context.Context, f fault.Fault) (history.Run, error) {
	if err := l.play(ctx, f); err != nil {
		return history.Run{}, fmt.Errorf("local: %s of %s, token %d: %w", f.Name, l.scene.leader, l.scene.token, err)
	}
	return l.report(), nil
}

// play is what happens in a run.
func (l *Lab) play(ctx context.Context, f fault.Fault) error {
	heal, err := l.strike(ctx, f)
	if err != nil {
		return err
	}
	if f.Store || f.Simulated {
		err = l.struckStore(heal)
	} else {
		err = l.struckLeader(heal)
	}
	if err == nil && l.canLead() {
		l.awaitLeader(recoverLimit*l.opt.TTL + guardTime)
	}
	return errors.Join(err, ctx.Err())
}

// strike lets the fault strike, and records that.
func (l *Lab) strike(ctx context.Context, f fault.Fault) (heal func() error, err error) {
	for range maxMissed {
		if err = l.aim(ctx, f); err != nil {
			return nil, err
		}
		heal, err = f.Strike(l)
		if !errors.Is(err, fault.ErrMissed) {
			break
		}
	}
	if err != nil || f.Store {
		return heal, err
	}
	return heal, l.recordStrike()
}

// recordStrike records a fault that strikes the leader, which has done so.
func (l *Lab) recordStrike() error {
	s := l.scene
	ev := history.Event{At: s.at, Actor: s.leader, Kind: history.Fault, Name: s.fault.Name, Token: s.token}
	switch {
	case s.fault.Releases:
		end, err := l.Await(s.ctx, s.mark, func(e Line) bool { return e.Kind == history.TermEnded && e.Token == s.token })
		if err != nil {
			return err
		}
		ev.At = end.At
	case s.at == 0: // nothing that the lab could have stamped
		s.at = monotonic()
		ev.At = s.at
		fallthrough
	default:
		ev.Floor = max(0, l.presumed(s.ctx, s.token)-s.at)
	}
	l.say(ev)
	return nil
}

// aim picks the leader, once all others stand by, and a random moment.
func (l *Lab) aim(ctx context.Context, f fault.Fault) error {
	if _, _, err := l.Settle(ctx); err != nil {
		return err
	}
	percent := int64(phase)
	if f.Releases {
		percent = phaseReleased
	}
	if err := l.Wait(ctx, time.Duration(l.random.Int64N(int64(l.opt.TTL)*percent/100))); err != nil {
		return err
	}
	name, token, err := l.Settle(ctx) // it may have changed meanwhile
	if err != nil {
		return err
	}
	c, err := l.running(name)
	if err != nil {
		return err
	}
	l.scene = &scene{ctx: ctx, fault: f, playing: f, leader: name, slot: c.slot, token: token, mark: l.rec.mark(), said: l.said}
	return l.keepLogs(ctx)
}

// struckLeader waits for the next term, ends the fault, and waits until the struck
// leader's work has returned and its term is told to have ended.
func (l *Lab) struckLeader(heal func() error) error {
	s := l.scene
	pctx, cancel := context.WithTimeout(s.ctx, patience*l.opt.TTL)
	_, err := l.NextTerm(pctx, s.mark, s.token)
	cancel()
	if err != nil && s.ctx.Err() != nil {
		return err
	}
	if err := l.healAfter(s.at, heal); err != nil {
		return err
	}
	if l.fleet.find(s.leader) == nil {
		return nil
	}
	for _, last := range []func(Line) bool{
		func(e Line) bool { return e.Name == NoteReturned && e.Token == s.token },
		func(e Line) bool { return e.Kind == history.TermEnded && e.Token == s.token },
	} {
		if _, err := l.Await(s.ctx, s.mark, last); err != nil {
			return err
		}
	}
	return nil
}

// struckStore ends a fault that a leader may outlive, and waits until somebody leads
// and nobody else believes to.
func (l *Lab) struckStore(heal func() error) error {
	s := l.scene
	if s.fault.Most > 0 {
		stop := l.measure()
		if err := l.healAfter(monotonic(), heal); err != nil {
			return err
		}
		stop()
		heal = nil
	}
	l.settle()
	l.outlast()
	if heal != nil {
		l.Healed(s.fault)
		if err := heal(); err != nil && !errors.Is(err, fault.ErrMissed) {
			return err
		}
	}
	return l.Wait(s.ctx, l.opt.TTL/2) // for what is still on its way
}

// healAfter ends the fault, if it can be ended, when it has lasted its time.
func (l *Lab) healAfter(begin time.Duration, heal func() error) error {
	if heal == nil {
		return nil
	}
	s := l.scene
	length := s.fault.Length(l.opt.TTL, l.random.Float64())
	if err := l.Wait(s.ctx, begin+length-monotonic()); err != nil {
		return err
	}
	l.say(history.Event{Actor: s.leader, Kind: history.Healed, Name: s.fault.Name})
	err := heal()
	if errors.Is(err, fault.ErrMissed) { // the dead need no healing
		return nil
	}
	return err
}

// settle waits until a term has begun after the fault struck. It gives up when none
// does, or when the leader shows no sign of losing its own.
func (l *Lab) settle() {
	s := l.scene
	if s.fault.Calm || l.awaitTerm(s.at, l.ttls(outlived)) || l.Leader() != "" {
		return
	}
	l.awaitTerm(s.at, l.ttls(successorLimit-outlived)+guardTime)
}

// awaitTerm waits until a term has begun after that time; false if none has within
// limit.
func (l *Lab) awaitTerm(after, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(l.scene.ctx, limit)
	defer cancel()
	_, err := l.Await(ctx, l.scene.mark, func(e Line) bool { return e.Kind == history.TermStarted && e.At > after })
	return err == nil
}

// awaitLeader waits until somebody leads, but not longer than limit.
func (l *Lab) awaitLeader(limit time.Duration) {
	ctx, cancel := context.WithTimeout(l.scene.ctx, limit)
	defer cancel()
	for mark := l.Mark(); l.Leader() == "" && ctx.Err() == nil; mark = l.Mark() {
		_, _ = l.Await(ctx, mark, func(Line) bool { return true }) // the loop asks what ended it
	}
}

// outlast waits until nobody believes to lead beside the latest leader, so that a
// split brain is seen in full; but only as long as leases last.
func (l *Lab) outlast() {
	for range 3 {
		end := l.rec.rivals()
		if end == 0 || l.Wait(l.scene.ctx, end-monotonic()) != nil {
			return
		}
	}
}

// head is the run without its events.
func (l *Lab) head() history.Run {
	guards := history.GuardsOn
	if l.opt.GuardsOff {
		guards = history.GuardsOff
	}
	lab := Name
	switch {
	case l.opt.Far != nil:
		lab = l.opt.Far.Lab
	case l.opt.Sentinels:
		lab = SentinelName
	}
	return history.Run{
		Seed: l.opt.Seed, Mode: l.opt.Mode, Masters: l.opt.Masters, Fault: l.scene.fault.Name, Guards: guards, Lab: lab,
		TTL: l.opt.TTL, Candidates: l.opt.Candidates, Renew: l.opt.Renew, Steps: l.scene.steps, Load: l.scene.load,
	}
}

// canLead reports whether anybody can lead after all that has struck.
func (l *Lab) canLead() bool {
	run := l.head()
	run.Lab = history.Virtual // which is asked for more than this lab is
	return measure.Promises(run).Lead
}

// report cuts the run out of the record, with times since the start of the
// struck term, and forgets what no later run needs.
func (l *Lab) report() history.Run {
	l.lookAround()
	begin, end := l.rec.term(l.scene.token).started, monotonic()
	l.endSilent(end)
	run := l.head()
	run.Length = end - begin
	lines := l.rec.since(begin)
	known := map[uint64]bool{0: true, l.scene.token: true}
	for _, line := range lines {
		if line.Kind == history.TermStarted {
			known[line.Token] = true
		}
	}
	for _, line := range lines {
		old := !known[line.Token] || line.N > lastN && line.N <= lastN+l.scene.said // of the run before
		if line.Kind == kindStats || line.At > end || old {
			continue
		}
		e := line.Event
		e.At -= begin
		if e.Deadline > 0 {
			e.Deadline -= begin
		}
		run.Events = append(run.Events, e)
	}
	history.Sort(run.Events)
	if t, ok := l.rec.current(); ok {
		l.rec.forget(t.started)
	}
	return run
}

// endSilent ends terms that have run out and whose candidates cannot say so.
func (l *Lab) endSilent(now time.Duration) {
	for _, t := range l.rec.open() {
		if t.deadline < now {
			l.say(history.Event{At: t.deadline, Actor: t.actor, Kind: history.TermEnded, Token: t.token, Err: "not heard of since"})
		}
	}
}

// replace starts a process for each that has ended, with links as at first.
func (l *Lab) replace() error {
	for slot := range l.opt.Candidates {
		if c := l.fleet.at(slot); c != nil && c.proc.Running() {
			continue
		}
		l.clear(slot)
		if err := l.enter(slot); err != nil {
			return fmt.Errorf("local: %w", err)
		}
	}
	return nil
}
