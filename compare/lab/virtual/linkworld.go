package virtual

import (
	"time"

	"incumbent/internal/simnet"
)

// What the lab does to links, to replies and to processes of masters.

// Candidates implements fault.StoreWorld.
func (l *lab) Candidates() (names []string) {
	for _, c := range l.candidates {
		if !c.killed {
			names = append(names, c.name)
		}
	}
	return names
}

// Slow implements fault.StoreWorld.
func (l *lab) Slow(name string, ttls float64) error {
	if _, err := l.find(name); err != nil {
		return err
	}
	for _, m := range l.masters {
		l.w.Slow(name, m, l.ttls(ttls))
	}
	return l.remark(name, ttls > 0, "its links are slower by "+l.ttls(ttls).Round(time.Microsecond).String()+" each way", "its links are as fast as before")
}

// Lose implements fault.StoreWorld.
func (l *lab) Lose(name string, share float64) error {
	if _, err := l.find(name); err != nil {
		return err
	}
	// More than is lost everywhere, never less.
	share = l.spec.Loss + (1-l.spec.Loss)*share
	for _, m := range l.masters {
		l.w.SetLoss(name, m, share)
	}
	return l.remark(name, share > l.spec.Loss, "its links lose "+percent(share)+" of what they carry", "its links are as good as before")
}

// LoseReply implements fault.StoreWorld.
func (l *lab) LoseReply(name string, master int, reset bool) error {
	p, err := l.link(name, master)
	if err != nil {
		return err
	}
	how := simnet.Stall
	if reset {
		how = simnet.Reset
	}
	l.note(p, "loses its next reply to %s", name)
	p.primary.DropReply(name, "EVALSHA", 1, how)
	return nil
}

// Hang implements fault.StoreWorld.
func (l *lab) Hang(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	l.note(p, "hangs")
	p.primary.Hang()
	return nil
}

// Resume implements fault.StoreWorld. Whoever hung is perhaps no primary any more.
func (l *lab) Resume(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	l.note(p, "goes on")
	for _, m := range p.servers {
		m.Resume()
	}
	return nil
}

// FlushScripts implements fault.StoreWorld.
func (l *lab) FlushScripts(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	l.note(p, "scripts flushed")
	p.primary.ScriptFlush()
	return nil
}

// Suspend implements fault.StoreWorld.
func (l *lab) Suspend(name string) error {
	c, err := l.find(name)
	if err != nil {
		return err
	}
	c.timers.suspend()
	l.w.Freeze(name)
	return nil
}

// Wake implements fault.StoreWorld.
func (l *lab) Wake(name string) error {
	c, err := l.find(name)
	if err != nil {
		return err
	}
	c.timers.resume()
	l.w.Thaw(name)
	return nil
}
