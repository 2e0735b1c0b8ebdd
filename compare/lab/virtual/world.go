package virtual

import (
	"fmt"
	"time"

	"incumbent/compare/fault"
)

// The lab is a fault.World.

// Leader implements fault.World. The dead and those whose term has run out, though
// they cannot tell, do not lead.
func (l *lab) Leader() string {
	leader, _ := l.rec.last()
	if _, err := l.find(leader); err != nil || !l.rec.leads(leader) {
		return ""
	}
	return leader
}

// find returns the candidate of that name, unless it is dead.
func (l *lab) find(name string) (*candidate, error) {
	for _, c := range l.candidates {
		if c.name == name && !c.killed {
			return c, nil
		}
	}
	return nil, fmt.Errorf("candidate %q: there is none alive: %w", name, fault.ErrMissed)
}

// Resign implements fault.World.
func (l *lab) Resign(name string) error {
	c, err := l.find(name)
	if err != nil {
		return err
	}
	l.released = time.Now()
	select {
	case c.resign <- struct{}{}:
	default: // it is asked already
	}
	return nil
}

// Kill implements fault.World. The dead process is a frozen one that is never
// thawed.
func (l *lab) Kill(name string) error {
	c, err := l.find(name)
	if err != nil {
		return err
	}
	c.killed = true
	l.w.Freeze(name)
	for _, m := range l.masters {
		l.w.Disconnect(name, m)
	}
	return nil
}

// Freeze implements fault.World.
func (l *lab) Freeze(name string) error {
	if _, err := l.find(name); err != nil {
		return err
	}
	l.w.Freeze(name)
	return nil
}

// FreezeBeforeWrite implements fault.World. A leader acts several times a TTL.
func (l *lab) FreezeBeforeWrite(name string) error {
	c, err := l.find(name)
	if err != nil {
		return err
	}
	c.freezing.Store(true)
	timer := time.NewTimer(l.source.Until(l.spec.TTL))
	defer timer.Stop()
	select {
	case <-c.frozen:
		return nil
	case <-timer.C:
		c.freezing.Store(false)
		return fmt.Errorf("candidate %q: did not act for %s: %w", name, l.spec.TTL, fault.ErrMissed)
	}
}

// Thaw implements fault.World.
func (l *lab) Thaw(name string) error {
	if _, err := l.find(name); err != nil {
		return err
	}
	l.w.Thaw(name)
	return nil
}

// Cut implements fault.World.
func (l *lab) Cut(name string) error {
	if _, err := l.find(name); err != nil {
		return err
	}
	l.w.Isolate(name)
	return nil
}

// Heal implements fault.World.
func (l *lab) Heal(name string) error {
	if _, err := l.find(name); err != nil {
		return err
	}
	l.w.Rejoin(name)
	return nil
}
