package virtual

import (
	"time"

	"incumbent/compare/history"
)

// When masters serve, and when not. They stop only where the lab stops them, so it looks
// before and after whatever it does to one; a pause alone ends by itself.

// outage is what was last seen of a master.
type outage struct {
	down  bool
	until time.Time // the end of a pause, if nothing else keeps the master from serving
}

// watch looks at a master now, and has it looked at again by what it returns.
func (l *lab) watch(p *place) func() {
	l.look(p)
	return func() { l.look(p) }
}

// look records whether a master has gone down, or serves again.
func (l *lab) look(p *place) {
	now := time.Now()
	from, known := p.primary.Serves()
	switch serves := known && !from.After(now); {
	case !serves:
		l.goesDown(p)
	case p.outage.down:
		up := now
		if !p.outage.until.IsZero() {
			up = p.outage.until
		}
		p.outage.down = false
		l.rec.add(history.Event{At: l.rec.since(up), Actor: p.name, Kind: history.MasterUp})
	}
	p.outage.until = time.Time{}
	if known {
		p.outage.until = from
	}
}

// goesDown records that a master serves nobody from now on, if it did.
func (l *lab) goesDown(p *place) {
	p.outage.until = time.Time{}
	if !p.outage.down {
		p.outage.down = true
		l.rec.add(history.Event{Actor: p.name, Kind: history.MasterDown})
	}
}

// lookAround looks at all masters.
func (l *lab) lookAround() {
	for _, p := range l.places {
		l.look(p)
	}
}
