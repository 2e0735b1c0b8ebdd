package local

import (
	"time"

	"incumbent/compare/history"
)

// When masters serve, and when not. They stop only where the lab stops them, so it looks
// before and after whatever it does to one; a pause alone ends by itself.

// outage is what was last seen of a master.
type outage struct {
	down  bool
	until time.Duration // the end of a pause, if nothing else keeps the master from serving; else 0
}

// serves is from when on the server executes what it is asked, writes included: by a
// clock that was read before a pause, whose end is therefore not too late. It is false
// where that is not known.
func (s *server) serves() (from time.Duration, known bool) {
	up := s.proc == nil || s.proc.PID() != 0
	return max(monotonic(), s.paused-pauseSlack), up && !s.hung && !s.refuses
}

// watch looks at a master now, and has it looked at again by what it returns.
func (l *Lab) watch(p *place) func() {
	l.look(p)
	return func() { l.look(p) }
}

// look records whether a master has gone down, or serves again.
func (l *Lab) look(p *place) {
	from, known := p.primary.serves()
	switch serves := known && from <= monotonic(); {
	case !serves:
		l.goesDown(p)
	case p.outage.down:
		l.say(history.Event{At: p.outage.until, Actor: p.name, Kind: history.MasterUp}) // now, if there was no pause
		p.outage.down = false
	}
	p.outage.until = 0
	if known {
		p.outage.until = from
	}
}

// goesDown records that a master serves nobody from now on, if it did.
func (l *Lab) goesDown(p *place) {
	p.outage.until = 0
	if !p.outage.down {
		p.outage.down = true
		l.say(history.Event{Actor: p.name, Kind: history.MasterDown})
	}
}

// lookAround looks at all masters.
func (l *Lab) lookAround() {
	for _, p := range l.places {
		l.look(p)
	}
}
