package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
)

// How a master under sentinels is set up. One that is killed is down after downAfter;
// the promotion itself takes about a second, since sentinels ask replicas that often.
const (
	primaryName      = "lab"
	sentinelCount    = 3
	sentinelReplicas = 2
	downAfter        = time.Second
	failoverTimeout  = 3 * time.Second
	sentinelPoll     = 20 * time.Millisecond
	infoPeriod       = time.Second // as during a failover; else they ask each 10 s
)

// sentinels are those of a lab; none without Options.Sentinels.
type sentinels []*redisproc.Server

func (s sentinels) addrs() (list []string) {
	for _, one := range s {
		list = append(list, one.Addr())
	}
	return list
}

func (s sentinels) stop() {
	for _, one := range s {
		_ = one.Kill() // Stop kills what this has not
		_ = one.Stop() // removes its folder, as does who removes the lab's
	}
}

// addSentinels makes replicas of the spare servers, starts sentinels, and waits until
// they know all of them.
func (l *Lab) addSentinels(ctx context.Context) error {
	if !l.opt.Sentinels {
		return nil
	}
	primary := l.places[0].primary
	host, port, err := net.SplitHostPort(primary.addr)
	if err != nil {
		return err
	}
	for _, s := range l.spares {
		if err := s.direct.Do(ctx, "REPLICAOF", host, port).Err(); err != nil {
			return err
		}
	}
	for range sentinelCount {
		s, err := redisproc.Start(ctx, redisproc.Options{
			Binary: l.stock.binary, Dir: l.stock.folder.path,
			Sentinel: &redisproc.Sentinel{
				Name: primaryName, Primary: primary.addr, Quorum: sentinelCount/2 + 1, DownAfter: downAfter, FailoverTimeout: failoverTimeout,
			},
		})
		if err != nil {
			return err
		}
		l.sentinels = append(l.sentinels, s)
		c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2, DisableIdentity: true})
		_ = c.Do(ctx, "SENTINEL", "DEBUG", "INFO-PERIOD", infoPeriod.Milliseconds()).Err() // older ones take longer to see replicas
		_ = c.Close()
	}
	return l.awaitReplicas(ctx)
}

// awaitReplicas waits until all sentinels know each other and both replicas, and these
// copy the primary: before that nobody can be promoted.
func (l *Lab) awaitReplicas(ctx context.Context) error {
	ready := func(s *redisproc.Server) (bool, error) {
		c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr(), ContextTimeoutEnabled: true})
		defer c.Close()
		others, err := c.Sentinels(ctx, primaryName).Result()
		if err != nil || len(others) < sentinelCount-1 {
			return false, err
		}
		replicas, err := c.Replicas(ctx, primaryName).Result()
		n := 0
		for _, r := range replicas {
			if r["flags"] == "slave" && r["master-link-status"] == "ok" {
				n++
			}
		}
		return n == sentinelReplicas, err
	}
	return l.poll(ctx, func() (bool, error) {
		for _, s := range l.sentinels {
			if ok, err := ready(s); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// poll asks until the answer is yes.
func (l *Lab) poll(ctx context.Context, ask func() (bool, error)) error {
	for {
		if ok, err := ask(); ok || err != nil {
			return err
		}
		if err := l.Wait(ctx, sentinelPoll); err != nil {
			return err
		}
	}
}

// Lag lets both replicas of a master under sentinels fall behind from now on: the
// primary refuses to send them more.
func (l *Lab) Lag(ctx context.Context) error {
	s := l.places[0].primary
	l.note(l.places[0].name, "its replicas begin to lag")
	return errors.Join(
		s.direct.Do(ctx, "ACL", "SETUSER", "default", "-psync", "-sync").Err(),
		s.direct.Do(ctx, "CLIENT", "KILL", "TYPE", "replica").Err(),
	)
}

// Failover has sentinels promote a replica, and returns when they say that they have:
// because the primary is killed, or because they are asked to while it is well. Then
// it goes on to serve those who have not heard of that yet, until Rejoin, or for
// some eight seconds, after which sentinels make a replica of it.
func (l *Lab) Failover(ctx context.Context, kill bool) error {
	p := l.places[0]
	old := p.primary
	var err error
	if kill {
		l.note(p.name, "killed")
		err = old.proc.Kill()
	} else {
		l.note(p.name, "sentinels are asked for a failover")
		c := redis.NewSentinelClient(&redis.Options{Addr: l.sentinels[0].Addr(), ContextTimeoutEnabled: true})
		err = errors.Join(c.Failover(ctx, primaryName).Err(), c.Close())
	}
	if err != nil {
		return err
	}
	switched := func() (bool, error) {
		now, err := l.elected(ctx, sentinelCount/2+1)
		return now != nil && now != old, err
	}
	if err := l.poll(ctx, switched); err != nil {
		return fmt.Errorf("local: no replica was promoted: %w", err)
	}
	l.note(p.name, "replica promoted")
	return nil
}

// Rejoin makes replicas of all servers but the primary that sentinels agree on, starts
// again what was killed, and returns when another failover can begin.
func (l *Lab) Rejoin(ctx context.Context) error {
	agreed := func() (bool, error) {
		now, err := l.elected(ctx, sentinelCount)
		return now != nil, err
	}
	if err := l.poll(ctx, agreed); err != nil {
		return fmt.Errorf("local: sentinels do not agree: %w", err)
	}
	primary := l.places[0].primary
	host, port, err := net.SplitHostPort(primary.addr)
	if err != nil {
		return err
	}
	for _, s := range l.servers {
		if s.proc.PID() == 0 {
			if err := s.crash(ctx, nil); err != nil {
				return err
			}
		}
		err := s.direct.Do(ctx, "ACL", "SETUSER", "default", "+psync", "+sync").Err()
		if s != primary && err == nil {
			err = s.direct.Do(ctx, "REPLICAOF", host, port).Err()
		}
		if err != nil {
			return err
		}
	}
	return l.awaitReplicas(ctx)
}

// elected is whom so many sentinels name as the primary; nil if they do not. It is that
// of the lab from then on.
func (l *Lab) elected(ctx context.Context, majority int) (*server, error) {
	votes := map[string]int{}
	for _, s := range l.sentinels {
		c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr(), ContextTimeoutEnabled: true})
		at, err := c.GetMasterAddrByName(ctx, primaryName).Result()
		if err = errors.Join(err, c.Close()); err != nil {
			return nil, err
		}
		votes[net.JoinHostPort(at[0], at[1])]++
	}
	for _, s := range l.servers {
		if votes[s.addr] >= majority {
			l.places[0].primary = s
			return s, nil
		}
	}
	return nil, nil
}
