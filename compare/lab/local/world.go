package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/process"
)

var _ fault.World = (*Lab)(nil)

// running is the candidate of that name.
func (l *Lab) running(name string) (*candidate, error) {
	if c := l.fleet.find(name); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("local: candidate %q does not run: %w", name, fault.ErrMissed)
}

// struck notes when a candidate was struck last.
func (l *Lab) struck(at time.Duration) { l.scene.at = at }

// Leader implements fault.World: it is by what the candidates themselves have
// told so far.
func (l *Lab) Leader() string {
	if t, ok := l.rec.current(); ok {
		return t.actor
	}
	return ""
}

// Resign implements fault.World: it returns when the candidate is asked.
func (l *Lab) Resign(name string) error {
	c, err := l.running(name)
	if err != nil {
		return err
	}
	l.struck(monotonic())
	l.scene.resigned = true
	return c.tell(cmdResign)
}

// Kill implements fault.World. It returns when the process is reaped and all
// that it had said is heard. Its term then ends in the record when its deadline
// would have ended it, since it cannot tell itself.
func (l *Lab) Kill(name string) error {
	c, err := l.running(name)
	if err != nil {
		return err
	}
	at, err := c.kill()
	if err != nil {
		return err
	}
	l.struck(at)
	for _, t := range l.rec.open() {
		if t.actor == name {
			l.rec.add(Line{Event: history.Event{
				At: t.deadline, Actor: name, N: lastN, Kind: history.TermEnded, Token: t.token, Err: "crashed",
			}})
		}
	}
	return nil
}

// Freeze implements fault.World. It returns when the kernel says that the
// process is stopped.
func (l *Lab) Freeze(name string) error {
	c, err := l.running(name)
	if err != nil {
		return err
	}
	l.struck(monotonic())
	return c.proc.Pause()
}

// FreezeBeforeWrite implements fault.World. The candidate stops itself, and is
// stopped when this returns. One that does not lead never gets there: that is
// an error that is fault.ErrMissed, after a TTL or two seconds.
func (l *Lab) FreezeBeforeWrite(name string) error {
	c, err := l.running(name)
	if err != nil {
		return err
	}
	if err := c.tell(cmdPlant); err != nil {
		return err
	}
	switch err := c.proc.AwaitState(true, max(l.opt.TTL, leastFreeze)); {
	case errors.Is(err, process.ErrUnchanged):
		err = fmt.Errorf("local: candidate %q does not act: %w", name, fault.ErrMissed)
		return errors.Join(err, c.tell(cmdUnplant))
	case err != nil:
		return err
	}
	l.struck(monotonic())
	return nil
}

// leastFreeze is what even a short TTL leaves a busy machine to let a leader act.
const leastFreeze = 2 * time.Second

// Thaw implements fault.World.
func (l *Lab) Thaw(name string) error {
	c, err := l.running(name)
	if err != nil {
		return err
	}
	return c.proc.Resume()
}

// errNoProxies is the error of whatever happens to links.
var errNoProxies = &OptionError{"Proxies", false, "nobody can be cut off without them"}

// Cut implements fault.World. No byte passes once it has returned. The error is
// an *OptionError without Options.Proxies.
func (l *Lab) Cut(name string) error {
	c, err := l.running(name)
	switch {
	case err != nil:
		return err
	case !l.opt.Proxies:
		return errNoProxies
	}
	l.struck(monotonic())
	for _, p := range l.proxies[c.slot] {
		p.Cut()
	}
	return nil
}

// Heal implements fault.World. Connections from before the cut are reset.
func (l *Lab) Heal(name string) error {
	c, err := l.running(name)
	if err != nil {
		return err
	}
	if l.opt.Proxies {
		for _, p := range l.proxies[c.slot] {
			p.Heal()
		}
	}
	return nil
}

// PID is the process of a candidate; 0 when it does not run.
func (l *Lab) PID(name string) int {
	if c := l.fleet.find(name); c != nil {
		return c.proc.PID()
	}
	return 0
}

// Stats asks a candidate what its process consists of.
func (l *Lab) Stats(ctx context.Context, name string) (Stats, error) {
	c, err := l.running(name)
	if err != nil {
		return Stats{}, err
	}
	mark := l.Mark()
	if err := c.tell(cmdStats); err != nil {
		return Stats{}, fmt.Errorf("local: ask %s: %w", name, err)
	}
	line, err := l.Await(ctx, mark, func(e Line) bool { return e.Actor == name && e.Kind == kindStats })
	if err != nil {
		return Stats{}, err
	}
	return *line.Stats, nil
}
