package virtual

import (
	"time"

	"incumbent/compare/history"
)

// measure counts, where the fault is that nothing happens, what masters are asked
// until stop is called.
func (l *lab) measure() (stop func()) {
	if !l.fault.Calm {
		return func() {}
	}
	begin, leader := time.Now(), l.Leader()
	before := l.commands()
	return func() {
		if l.Leader() != leader {
			return // it did not hold still
		}
		load := history.Load{Span: time.Since(begin)}
		for name, n := range l.commands() {
			n -= before[name]
			if name == leader {
				load.Leader = n
				continue
			}
			load.Standby += n
			load.Standbys++
		}
		l.load = load
	}
}

// commands is how many each candidate has had executed.
func (l *lab) commands() map[string]int {
	all := map[string]int{}
	for _, name := range l.Candidates() {
		for _, m := range l.masters {
			all[name] += m.Commands(name, "")
		}
	}
	return all
}
