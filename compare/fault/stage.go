package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Stage is a StoreWorld in which the faults of a [Schedule] strike one after the
// other.
type Stage interface {
	StoreWorld
	// TTL is how long leases last, Elapsed how long the run has lasted.
	TTL() time.Duration
	Elapsed() time.Duration
	// Begin says which fault Struck and StruckLeader are about from now on. Masters
	// have the replicas that they need.
	Begin(f Fault)
	// StruckLeader says that the fault strikes a candidate at this instant.
	StruckLeader(candidate string)
	// Healed says that a fault ends at this instant.
	Healed(f Fault)
	// Note tells a reader of the history something.
	Note(text string)
}

// player plays the steps of a schedule. It is the world that their faults see:
// whenever time passes there, what is due is healed.
type player struct {
	Stage
	exact  bool          // faults of the store strike at once, and not when they choose
	struck time.Duration // when the latest fault did
	open   []wound       // by when they are due
	errs   []error       // of healing
}

// wound is a fault that is to be healed.
type wound struct {
	fault Fault
	at    time.Duration
	heal  func() error
}

// lasting is for how many TTLs a fault lasts in a schedule that is otherwise healed
// when a successor has had its time.
const lasting = 2

// A step waits for a leader for patience TTLs and, for a guard of a master that has
// restarted, restarted more. It looks every so many TTLs.
const (
	patience  = 4
	restarted = 2 * time.Second
	look      = 0.1
)

// play plays all steps, and returns when all is healed.
func (p *player) play(steps []Step) error {
	p.struck = p.Elapsed()
	for i, s := range steps {
		p.wait(p.struck + p.ttls(s.After))
		switch err := p.step(s); {
		case errors.Is(err, ErrMissed):
			p.Note(fmt.Sprintf("step %d, %s, is skipped: %v", i+1, s.Fault, err))
			p.struck = p.Elapsed()
		case err != nil:
			return fmt.Errorf("step %d, %s: %w", i+1, s.Fault, err)
		}
	}
	for len(p.open) > 0 {
		p.wait(p.open[0].at)
	}
	return errors.Join(p.errs...)
}

// step plays one step.
func (p *player) step(s Step) error {
	f, err := ByName(s.Fault)
	if err != nil {
		return err
	}
	leader := p.await(f)
	if leader == "" {
		return fmt.Errorf("%w: nobody led in time", ErrMissed)
	}
	p.Begin(f)
	heal, err := f.Strike(p)
	if err != nil {
		return err
	}
	if !f.Store {
		p.struck = p.Elapsed()
		p.StruckLeader(leader)
	}
	if heal != nil {
		p.wound(f, s, heal)
	}
	return nil
}

// await waits until somebody leads. Where nothing is going to happen to a leader
// none is needed.
func (p *player) await(f Fault) string {
	for end := p.Elapsed() + p.ttls(patience) + restarted; ; p.Pass(look) {
		switch leader := p.Leader(); {
		case leader != "":
			return leader
		case f.Calm:
			return "lab"
		case p.Elapsed() >= end:
			return ""
		}
	}
}

// wound notes when a fault that has struck is to be healed.
func (p *player) wound(f Fault, s Step, heal func() error) {
	length := p.ttls(s.For)
	switch {
	case s.For > 0:
	case f.Most > 0:
		length = f.Length(p.TTL(), p.Random())
	default:
		length = p.ttls(lasting)
	}
	p.open = append(p.open, wound{f, p.Elapsed() + length, heal})
	slices.SortStableFunc(p.open, func(a, b wound) int { return int(a.at - b.at) })
}

// Struck implements StoreWorld.
func (p *player) Struck(master int) {
	p.struck = p.Elapsed()
	p.Stage.Struck(master)
}

// Pass implements StoreWorld.
func (p *player) Pass(ttls float64) { p.wait(p.Elapsed() + p.ttls(ttls)) }

// wait lets time pass until then, and heals what is due.
func (p *player) wait(until time.Duration) {
	for len(p.open) > 0 && p.open[0].at <= until {
		w := p.open[0]
		p.open = p.open[1:]
		p.pass(w.at)
		p.Healed(w.fault)
		if err := w.heal(); err != nil && !errors.Is(err, ErrMissed) { // the dead need no healing
			p.errs = append(p.errs, fmt.Errorf("healing %s: %w", w.fault.Name, err))
		}
	}
	p.pass(until)
}

// pass lets time pass until then.
func (p *player) pass(until time.Duration) {
	if d := until - p.Elapsed(); d > 0 {
		p.Stage.Pass(float64(d) / float64(p.TTL()))
	}
}

func (p *player) ttls(n float64) time.Duration { return time.Duration(n * float64(p.TTL())) }
