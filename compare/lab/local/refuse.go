package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/fault"
)

// What the lab does to the clients of masters, and masters that refuse writes.

// KillClients implements fault.StoreWorld: it kills all connections but the lab's own.
func (l *Lab) KillClients(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	return l.askTo(p, "closes all connections", func(ctx context.Context, s *server) error {
		_, err := s.direct.Pipelined(ctx, func(c redis.Pipeliner) error {
			for _, kind := range []string{"normal", "pubsub"} {
				c.Do(ctx, "CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
			}
			return nil
		})
		return err
	})
}

// PauseClients implements fault.StoreWorld.
func (l *Lab) PauseClients(master int, ttls float64) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	d := l.ttls(ttls).Round(time.Millisecond)
	return l.askTo(p, "executes nothing for "+d.String(), func(ctx context.Context, s *server) error {
		s.paused = monotonic() + d + pauseSlack
		return s.direct.Do(ctx, "CLIENT", "PAUSE", d.Milliseconds(), "ALL").Err()
	})
}

// pauseSlack is by how much later than told a server may go on.
const pauseSlack = 10 * time.Millisecond

// Refuse implements fault.StoreWorld.
func (l *Lab) Refuse(master int, why fault.Refusal) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	switch why {
	case fault.OutOfMemory:
		return l.askTo(p, "has no memory left", func(ctx context.Context, s *server) error {
			return s.refuse(ctx, "maxmemory-policy", "noeviction", "maxmemory", "1")
		})
	case fault.NoReplicas:
		return l.askTo(p, "lacks replicas", func(ctx context.Context, s *server) error {
			return s.refuse(ctx, "min-replicas-to-write", "100")
		})
	}
	return l.ask(p, func(ctx context.Context, s *server) error { return l.subject(ctx, p, why) })
}

// subject makes a place's primary a replica, and returns when it has the data of the
// other server.
func (l *Lab) subject(ctx context.Context, p *place, why fault.Refusal) (err error) {
	of, text := p.saved, "the server that holds its last snapshot"
	if why == fault.EmptyPrimary {
		text = "a server without data"
		of, err = l.spare(ctx, p)
	}
	switch {
	case err != nil:
		return err
	case of == nil:
		return errNoSnapshot
	}
	if err := of.unfollow(ctx); err != nil {
		return err
	}
	err = l.done(p.name, "becomes a replica of "+text, func() error { return p.primary.follow(ctx, of) })
	half := p.primary.link != nil // it may be a replica though it has not caught up: Accept ends that
	p.primary.subject, p.primary.refuses = half, half
	return err
}

// Accept implements fault.StoreWorld. Whoever refused is perhaps no primary any more. One
// that hangs is told when it goes on.
func (l *Lab) Accept(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	return l.done(p.name, "takes writes again", func() (err error) {
		for _, s := range p.servers {
			switch {
			case s.hung:
				s.owed = true
			case s.proc.PID() != 0:
				err = errors.Join(err, l.accept(s))
			}
		}
		return err
	})
}

// accept makes a server take writes, once its clients are not paused.
func (l *Lab) accept(s *server) error {
	if err := l.Wait(l.scene.ctx, s.paused-monotonic()); err != nil {
		return err
	}
	ctx, cancel := l.brief()
	defer cancel()
	s.owed = false
	return s.accept(ctx)
}

// accept makes a server take writes.
func (s *server) accept(ctx context.Context) error {
	err := s.configure(ctx, "maxmemory", "0", "min-replicas-to-write", "0")
	if s.subject && err == nil {
		err = s.unfollow(ctx)
	}
	s.refuses = s.refuses && err != nil
	return err
}

// refuse sets directives that have a server refuse writes.
func (s *server) refuse(ctx context.Context, pairs ...any) error {
	err := s.configure(ctx, pairs...)
	s.refuses = s.refuses || err == nil
	return err
}

// configure sets directives. They hold until the server is started again.
func (s *server) configure(ctx context.Context, pairs ...any) error {
	return s.direct.Do(ctx, append([]any{"CONFIG", "SET"}, pairs...)...).Err()
}

// refused is an error where an operator's command was refused like those of anybody: the
// fault found nobody to strike.
func refused(err error) error {
	for _, word := range []string{"READONLY", "NOREPLICAS", "OOM", "LOADING"} {
		if redis.HasErrorPrefix(err, word) {
			return fmt.Errorf("%w: %w", fault.ErrMissed, err)
		}
	}
	return err
}
