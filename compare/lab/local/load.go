package local

import (
	"incumbent/compare/history"
)

// measure counts, where the fault is that nothing happens, what masters are asked until
// stop is called: by the proxies, which see what candidates send and nothing of the lab.
// What scripts do besides is not counted.
func (l *Lab) measure() (stop func()) {
	s := l.scene
	if !s.fault.Calm || l.opt.Far != nil || !l.opt.Proxies {
		return func() {}
	}
	begin, before := monotonic(), l.commands()
	return func() {
		if l.Leader() != s.leader || l.rec.term(s.token).ended {
			return // it did not hold still
		}
		load := history.Load{Span: monotonic() - begin}
		for name, n := range l.commands() {
			n -= before[name]
			if name == s.leader {
				load.Leader = n
				continue
			}
			load.Standby += n
			load.Standbys++
		}
		s.load = load
	}
}

// commands is how many each candidate has sent.
func (l *Lab) commands() map[string]int {
	all := map[string]int{}
	for _, c := range l.fleet.running() {
		for _, p := range l.proxies[c.slot] {
			all[c.name] += int(p.Stats().Commands)
		}
	}
	return all
}
