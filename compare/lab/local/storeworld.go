package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"incumbent/compare/fault"
)

// The lab is a fault.StoreWorld. Whatever it does to a master is noted in the
// history under the master's name.

var _ fault.StoreWorld = (*Lab)(nil)

// place is where candidates expect a master.
type place struct {
	name    string
	primary *server   // whom most candidates reach there
	former  *server   // whom they reached before; nil if nobody
	replica *server   // has all that the primary has; nil if there is none
	saved   *server   // holds the last snapshot; nil if there is none
	file    []byte    // the last snapshot, as a file
	servers []*server // all that ever were there
	outage  outage
}

// place returns that with the number i, if the lab may do something to it.
func (l *Lab) place(i int) (*place, error) {
	switch {
	case i < 0 || i >= len(l.places):
		return nil, fmt.Errorf("local: master %d: there are %d, from 0 on", i, len(l.places))
	case l.opt.Servers != nil || l.opt.Far != nil:
		return nil, fmt.Errorf("local: a server that the lab did not start is left alone: %w", fault.ErrUnsupported)
	}
	return l.places[i], nil
}

// Random implements fault.StoreWorld.
func (l *Lab) Random() float64 { return l.random.Float64() }

// Pass implements fault.StoreWorld. It returns early when the run is called off.
func (l *Lab) Pass(ttls float64) {
	l.scene.resigned = false
	_ = l.Wait(l.scene.ctx, l.ttls(ttls)) // whoever asks next notices
}

// ttls is that many TTLs.
func (l *Lab) ttls(n float64) time.Duration { return time.Duration(n * float64(l.opt.TTL)) }

// brief bounds what a server in good health does at once.
func (l *Lab) brief() (context.Context, context.CancelFunc) {
	return context.WithTimeout(l.scene.ctx, max(2*l.opt.TTL, 2*time.Second))
}

// ask has a place's primary do something that needs it to be up. One that is down or
// hangs is missed.
func (l *Lab) ask(p *place, do func(ctx context.Context, s *server) error) error {
	if !p.primary.runs() {
		return fmt.Errorf("local: %s is down or hangs: %w", p.name, fault.ErrMissed)
	}
	ctx, cancel := l.brief()
	defer cancel()
	if err := do(ctx, p.primary); err != nil {
		return fmt.Errorf("local: %s: %w", p.name, refused(err))
	}
	return nil
}

// askTo is ask, and records what was done.
func (l *Lab) askTo(p *place, text string, do func(ctx context.Context, s *server) error) error {
	return l.done(p.name, text, func() error { return l.ask(p, do) })
}

// Masters implements fault.StoreWorld.
func (l *Lab) Masters() int { return len(l.places) }

// Stop implements fault.StoreWorld.
func (l *Lab) Stop(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	return l.done(p.name, "died", p.primary.proc.Kill)
}

var errNoSnapshot = errors.New("there is no snapshot of it")

// Restart implements fault.StoreWorld: with SIGKILL. A snapshot is an RDB file, and all
// data come from the append-only file that the server has kept.
func (l *Lab) Restart(master int, with fault.Data) error {
	p, err := l.place(master)
	switch {
	case err != nil:
		return err
	case with == fault.SavedData && p.file == nil:
		return fmt.Errorf("local: %s: %w", p.name, errNoSnapshot)
	case with == fault.AllData && !p.primary.runs():
		return fmt.Errorf("local: %s is down or hangs: %w", p.name, fault.ErrMissed)
	}
	ctx, cancel := context.WithTimeout(l.scene.ctx, restartTime)
	defer cancel()
	defer l.watch(p)()
	l.goesDown(p)
	switch with {
	case fault.AllData:
		return l.done(p.name, "restarted with all its data", func() error { return p.primary.restart(ctx) })
	case fault.SavedData:
		return l.done(p.name, "restarted with the data of its last snapshot", func() error { return p.primary.crash(ctx, p.file) })
	}
	return l.done(p.name, "restarted without data", func() error { return p.primary.crash(ctx, nil) })
}

// restartTime bounds the start of a server.
const restartTime = 30 * time.Second

// Jump implements fault.StoreWorld, with libfaketime.
func (l *Lab) Jump(master int, ttls float64) error {
	p, err := l.place(master)
	switch {
	case err != nil:
		return err
	case p.primary.clock == nil:
		return l.unsupported(fmt.Errorf("local: %s runs without libfaketime, so its clock cannot be set: %w", p.name, fault.ErrUnsupported))
	}
	d := l.ttls(ttls)
	return l.done(p.name, "clock set by "+d.String(), func() error { return p.primary.clock.set(p.primary.clock.ahead + d) })
}

// Flush implements fault.StoreWorld.
func (l *Lab) Flush(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	return l.askTo(p, "flushed", func(ctx context.Context, s *server) error { return s.direct.FlushAll(ctx).Err() })
}

// Forget implements fault.StoreWorld.
func (l *Lab) Forget(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	return l.askTo(p, "lease deleted", func(ctx context.Context, s *server) error { return s.direct.Del(ctx, l.keys.Lease).Err() })
}

// FlushScripts implements fault.StoreWorld. Who is down or hangs is left alone.
func (l *Lab) FlushScripts(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	err = l.askTo(p, "scripts flushed", func(ctx context.Context, s *server) error { return s.direct.ScriptFlush(ctx).Err() })
	if errors.Is(err, fault.ErrMissed) {
		return nil
	}
	return err
}

// Hang implements fault.StoreWorld.
func (l *Lab) Hang(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	if !p.primary.runs() {
		return fmt.Errorf("local: %s is down or hangs already: %w", p.name, fault.ErrMissed)
	}
	defer l.watch(p)()
	p.primary.hung = true
	return l.done(p.name, "hangs", p.primary.proc.Pause)
}

// Resume implements fault.StoreWorld. Whoever hung is perhaps no primary any more.
func (l *Lab) Resume(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	return l.done(p.name, "goes on", func() (err error) {
		for _, s := range p.servers {
			if !s.hung {
				continue
			}
			s.hung = false
			err = errors.Join(err, s.proc.Resume())
			if s.owed && err == nil {
				err = l.accept(s)
			}
		}
		return err
	})
}

// Candidates implements fault.StoreWorld.
func (l *Lab) Candidates() (names []string) {
	for _, c := range l.fleet.running() {
		names = append(names, c.name)
	}
	return names
}

// Suspend implements fault.StoreWorld.
func (l *Lab) Suspend(string) error { return l.unsupported(errSuspend) }

// Wake implements fault.StoreWorld.
func (l *Lab) Wake(string) error { return errSuspend }

var errSuspend = fmt.Errorf("local: no process can suspend its own host: %w", fault.ErrUnsupported)

// unsupported is err; where faults are drawn by lot it is one that is left out.
func (l *Lab) unsupported(err error) error {
	if l.scene.fault.Name == fault.Random {
		return fmt.Errorf("%w: %w", fault.ErrMissed, err)
	}
	return err
}

// Refresh implements fault.StoreWorld.
func (l *Lab) Refresh() error {
	leader := l.Leader()
	for _, c := range l.fleet.running() {
		if c.name == leader {
			continue
		}
		if err := l.Kill(c.name); err != nil {
			return err
		}
		l.clear(c.slot)
		if err := l.enter(c.slot); err != nil {
			return err
		}
	}
	return nil
}

// clear makes the links of a slot as they were at first.
func (l *Lab) clear(slot int) {
	if !l.opt.Proxies {
		return
	}
	for _, p := range l.proxies[slot] {
		p.KeepReplies()
		p.Lose(0)
		for _, d := range ways {
			p.Delay(d, 0)
		}
		p.Heal()
	}
}
