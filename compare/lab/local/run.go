package local

import (
	"context"
	"fmt"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// Name is what histories of this lab say.
const Name = "local"

// patience is how many TTLs a successor gets before the run counts as one
// without.
const patience = 5

// Leaders are struck up to so far into a settled term, in hundredths of a TTL:
// before their first renewal as well as after it. For a lease that is given
// back that makes no difference.
const (
	phase         = 50
	phaseReleased = 5
)

// strike is a fault in progress.
type strike struct {
	fault  fault.Fault
	leader string
	slot   int
	token  uint64
	mark   int           // the record's place before the fault
	at     time.Duration // when it struck
	floor  time.Duration // what the lease still had then
	healed time.Duration // when it was over; 0 for faults that are not
}

func (s *strike) String() string {
	return fmt.Sprintf("%s of %s, token %d", s.fault.Name, s.leader, s.token)
}

// Run lets one fault of package fault strike the leader, at a random moment,
// waits for the next term, ends the fault, and returns what happened from the
// start of the struck term on. Whoever was killed is replaced. A resignation
// strikes when the struck term ends: being told takes no part in it. A run
// without a successor is no error, but a fault that strikes the store is:
// fault.ErrUnsupported. ctx bounds the whole.
func (l *Lab) Run(ctx context.Context, name string) (history.Run, error) {
	f, err := fault.ByName(name)
	if err != nil {
		return history.Run{}, fmt.Errorf("local: %w", err)
	}
	if f.Store {
		return history.Run{}, fmt.Errorf("local: %s, a fault of the store: %w", f.Name, fault.ErrUnsupported)
	}
	s, err := l.aim(ctx, f)
	if err != nil {
		return history.Run{}, err
	}
	if err := l.play(ctx, s); err != nil {
		return history.Run{}, fmt.Errorf("local: %v: %w", s, err)
	}
	return l.report(s), nil
}

// aim picks the leader, once all others stand by, and a random moment.
func (l *Lab) aim(ctx context.Context, f fault.Fault) (*strike, error) {
	if _, _, err := l.Settle(ctx); err != nil {
		return nil, err
	}
	percent := int64(phase)
	if f.Releases {
		percent = phaseReleased
	}
	if err := l.Wait(ctx, time.Duration(l.random.Int64N(int64(l.opt.TTL)*percent/100))); err != nil {
		return nil, err
	}
	name, token, err := l.Settle(ctx) // it may have changed meanwhile
	if err != nil {
		return nil, err
	}
	c, err := l.running(name)
	if err != nil {
		return nil, err
	}
	return &strike{fault: f, leader: name, slot: c.slot, token: token, mark: l.rec.mark()}, nil
}

func (l *Lab) play(ctx context.Context, s *strike) error {
	heal, err := s.fault.Strike(l)
	if err != nil {
		return err
	}
	s.at = l.struckAt
	if s.fault.Releases {
		end, err := l.Await(ctx, s.mark, func(e Line) bool { return e.Kind == history.TermEnded && e.Token == s.token })
		if err != nil {
			return err
		}
		s.at = end.At
	} else if s.floor, err = l.floor(ctx, s.at); err != nil {
		return err
	}
	pctx, cancel := context.WithTimeout(ctx, patience*l.opt.TTL)
	_, err = l.NextTerm(pctx, s.mark, s.token)
	cancel()
	if err != nil && ctx.Err() != nil {
		return err
	}
	return l.finish(ctx, s, heal)
}

// finish ends the fault and waits until the struck leader's work has returned
// and its term is told to have ended. A dead leader is replaced.
func (l *Lab) finish(ctx context.Context, s *strike, heal func() error) error {
	if heal != nil {
		length := s.fault.Length(l.opt.TTL, l.random.Float64())
		if err := l.Wait(ctx, s.at+length-monotonic()); err != nil {
			return err
		}
		s.healed = monotonic()
		if err := heal(); err != nil {
			return err
		}
	}
	if l.fleet.find(s.leader) == nil {
		return l.enter(s.slot)
	}
	for _, last := range []func(Line) bool{
		func(e Line) bool { return e.Name == NoteReturned && e.Token == s.token },
		func(e Line) bool { return e.Kind == history.TermEnded && e.Token == s.token },
	} {
		if _, err := l.Await(ctx, s.mark, last); err != nil {
			return err
		}
	}
	return nil
}

// report cuts the run out of the record, with times since the start of the
// struck term, and forgets what no later run needs.
func (l *Lab) report(s *strike) history.Run {
	begin, end := l.rec.term(s.token).started, monotonic()
	run := history.Run{
		Seed: l.opt.Seed, Mode: l.opt.Mode, Masters: l.opt.Masters, Fault: s.fault.Name, Guards: history.GuardsOn, Lab: Name,
		TTL: l.opt.TTL, Length: end - begin,
	}
	run.Events = append(run.Events, history.Event{
		At: s.at - begin, Actor: s.leader, N: lastN, Kind: history.Fault, Name: s.fault.Name, Token: s.token, Floor: s.floor,
	})
	if s.healed > 0 {
		run.Events = append(run.Events, history.Event{
			At: s.healed - begin, Actor: s.leader, N: lastN, Kind: history.Healed, Name: s.fault.Name,
		})
	}
	for _, line := range l.rec.since(begin) {
		earlier := line.Token > 0 && line.Token < s.token // left over from the run before
		if line.Kind == kindStats || line.At > end || earlier {
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
	if t, ok := l.rec.latest(); ok {
		l.rec.forget(t.started)
	}
	return run
}
