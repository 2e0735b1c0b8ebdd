package local

import (
	"context"
	"fmt"

	"incumbent/compare/fault"
	"incumbent/internal/blackhole"
)

// What the lab does with replicas. Each is a server of its own that copies its
// primary over a proxy, and lags from the instant on at which that goes dark.

var ways = []blackhole.Direction{blackhole.Requests, blackhole.Replies}

// spare is a server that nobody needs. Where all are in use a new one is started,
// which a restart guard will hold back longer than the others.
func (l *Lab) spare(ctx context.Context, p *place) (*server, error) {
	if n := len(l.spares); n > 0 {
		s := l.spares[n-1]
		l.spares = l.spares[:n-1]
		return s, nil
	}
	list, err := l.stock.take(ctx, 1, true)
	if err != nil {
		return nil, err
	}
	l.servers = append(l.servers, list...)
	if list[0].born+l.opt.TTL+ripening > monotonic() {
		l.note(p.name, "its replica is younger than the restart guard asks for")
	}
	return list[0], nil
}

// replicate gives a place's primary a replica that has all it has, if it has none
// and needs one.
func (l *Lab) replicate(ctx context.Context, p *place) error {
	if l.opt.ReplicaAcks == 0 || p.replica != nil || !p.primary.runs() {
		return nil
	}
	return l.copyOf(ctx, p)
}

// copyOf gives a place's primary another replica.
func (l *Lab) copyOf(ctx context.Context, p *place) error {
	s, err := l.spare(ctx, p)
	if err != nil {
		return err
	}
	if err := s.follow(ctx, p.primary); err != nil {
		return err
	}
	p.replica = s
	p.servers = append(p.servers, s)
	return nil
}

// Snapshot implements fault.StoreWorld. Where replicas have to acknowledge, nobody
// does from now on. What the fault has no use for is not kept.
func (l *Lab) Snapshot(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	if l.opt.Sentinels {
		return l.lagBehind(p)
	}
	need := needsOf(l.scene.playing)
	return l.ask(p, func(ctx context.Context, s *server) (err error) {
		if need.file {
			l.note(p.name, "saves its data to a file")
			if err = s.direct.Save(ctx).Err(); err == nil {
				p.file, err = s.proc.Saved()
			}
		}
		if err != nil || need.spares == 0 {
			return err
		}
		if p.replica == nil {
			err = l.copyOf(ctx, p)
		} else {
			err = p.replica.catchUp(ctx, s)
		}
		if err == nil {
			l.note(p.name, "its replica begins to lag")
			p.save(p.replica)
		}
		return err
	})
}

// save has s, which is a replica, hold a snapshot of the primary, which loses its
// replica.
func (p *place) save(s *server) {
	s.lag()
	p.saved, p.replica = s, nil
}

// Demote implements fault.StoreWorld.
func (l *Lab) Demote(master int) error {
	p, err := l.place(master)
	switch {
	case err != nil:
		return err
	case l.opt.Sentinels: // who choose whom they promote
		return l.lagBehind(p)
	case p.former == nil:
		return fmt.Errorf("local: %s: was never replaced", p.name)
	case !p.former.runs():
		return fmt.Errorf("local: the primary before of %s is down or hangs: %w", p.name, fault.ErrMissed)
	}
	return l.ask(p, func(ctx context.Context, s *server) error {
		if err := p.former.follow(ctx, s); err != nil {
			return err
		}
		l.note(p.name, "the primary before is its replica, and begins to lag")
		if p.replica != nil {
			p.replica.lag() // what it would acknowledge counts no more
			p.replica = nil
		}
		p.save(p.former)
		return nil
	})
}

// Promote implements fault.StoreWorld. The new primary gets a replica, if one is
// needed, once it is reached.
func (l *Lab) Promote(master int, but string) error {
	p, err := l.place(master)
	switch {
	case err != nil:
		return err
	case l.opt.Sentinels: // while the primary is well, nothing keeps anybody to it
		defer l.watch(p)()
		if but == "" {
			l.goesDown(p) // it is killed
		}
		return l.failover(but == "")
	case p.saved == nil:
		return fmt.Errorf("local: %s: %w", p.name, errNoSnapshot)
	case !l.opt.Proxies:
		return errNoProxies
	}
	ctx, cancel := l.brief()
	defer cancel()
	if err := p.saved.unfollow(ctx); err != nil {
		return fmt.Errorf("local: promote a replica of %s: %w", p.name, err)
	}
	defer l.watch(p)()
	l.note(p.name, "replica promoted")
	p.former, p.primary, p.saved = p.primary, p.saved, nil
	for slot, row := range l.proxies {
		if c := l.fleet.at(slot); c != nil && c.name == but {
			continue
		}
		if err := row[master].Retarget(p.primary.addr); err != nil {
			return err
		}
	}
	return l.replicate(ctx, p)
}

// Follow implements fault.StoreWorld.
func (l *Lab) Follow(name string, master int) error {
	if l.opt.Sentinels {
		ctx, cancel := context.WithTimeout(l.scene.ctx, sentinelTime)
		defer cancel()
		return l.Rejoin(ctx)
	}
	p, proxy, err := l.link(name, master)
	if err != nil {
		return err
	}
	l.note(p.name, name+" reaches the replica, too")
	return proxy.Retarget(p.primary.addr)
}
