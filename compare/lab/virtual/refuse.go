package virtual

import (
	"fmt"
	"time"

	"incumbent/compare/fault"
	"incumbent/internal/simnet"
)

// What the lab does to the clients of masters, and masters that refuse writes.

// KillClients implements fault.StoreWorld.
func (l *lab) KillClients(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	l.note(p, "closes all connections")
	for _, c := range l.candidates {
		l.w.Disconnect(c.name, p.primary)
	}
	return nil
}

// PauseClients implements fault.StoreWorld.
func (l *lab) PauseClients(master int, ttls float64) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	d := l.ttls(ttls)
	l.note(p, "executes nothing for %s", d.Round(time.Microsecond))
	p.primary.Pause(d)
	return nil
}

// Refuse implements fault.StoreWorld.
func (l *lab) Refuse(master int, why fault.Refusal) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	switch why {
	case fault.OutOfMemory:
		l.note(p, "has no memory left")
		p.primary.Refuse(simnet.OutOfMemory)
	case fault.NoReplicas:
		l.note(p, "lacks replicas")
		p.primary.Refuse(simnet.NoReplicas)
	default:
		return l.subject(p, why)
	}
	return nil
}

// subject makes a place's primary a replica. The sync takes no time.
func (l *lab) subject(p *place, why fault.Refusal) (err error) {
	of, text := p.saved, "the server that holds its last snapshot"
	if why == fault.EmptyPrimary {
		p.saves++
		text = "a server without data"
		of, err = l.addMaster(fmt.Sprintf("%s-empty-%d", p.name, p.saves))
	}
	switch {
	case err != nil:
		return err
	case of == nil:
		return fmt.Errorf("%s: %w", p.name, errNoSnapshot)
	}
	l.note(p, "becomes a replica of %s", text)
	p.primary.CopyFrom(of)
	p.primary.Refuse(simnet.ReadOnly)
	return nil
}

// Accept implements fault.StoreWorld. Whoever refused is perhaps no primary any more.
func (l *lab) Accept(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	l.note(p, "takes writes again")
	for _, m := range p.servers {
		m.Refuse(simnet.Nothing)
	}
	return nil
}

// writable is an error where an operator's writes would be refused, too.
func (p *place) writable() error {
	if r := p.primary.Refusal(); r == simnet.NoReplicas || r == simnet.ReadOnly {
		return fmt.Errorf("%s refuses writes: %w", p.name, fault.ErrMissed)
	}
	return nil
}
