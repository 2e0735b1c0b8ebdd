package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/fault"
	"incumbent/internal/redisproc"
)

// SentinelName is what histories of a lab with sentinels say.
const SentinelName = "sentinel"

// sentinelFaults are those that sentinels play.
var sentinelFaults = []string{"failover", "failover-twice", "failover-acks", "old-primary", "old-primary-acks"}

// SentinelFaults lists the faults that sentinels play: promotions.
func SentinelFaults() []string { return slices.Clone(sentinelFaults) }

// errNoSentinelFault says why anything else is not played.
var errNoSentinelFault = fmt.Errorf("local: sentinels promote replicas of the one primary of single mode (%s): %w",
	strings.Join(sentinelFaults, ", "), fault.ErrUnsupported)

// How a master under sentinels is set up. They ask servers and each other twice as often
// as by default, or a slow answer would be taken for a server that is down: downAfter is
// short. Not more often, since a replica is promoted only if it was heard of within five
// such periods, and all ask each second while the primary is down.
const (
	primaryName      = "lab"
	sentinelCount    = 3
	sentinelReplicas = 2
	downAfter        = 1500 * time.Millisecond
	failoverTimeout  = 3 * time.Second
	sentinelPoll     = 20 * time.Millisecond
	sentinelPeriod   = 500 * time.Millisecond
)

// sentinelPeriods are what a sentinel does each so often; since Redis 7 it can be told
// how often.
var sentinelPeriods = []string{"PING-PERIOD", "INFO-PERIOD", "ASK-PERIOD", "PUBLISH-PERIOD"}

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
		if err := hasten(ctx, s.Addr()); err != nil {
			return err
		}
	}
	return l.awaitReplicas(ctx)
}

// hasten has a sentinel ask often.
func hasten(ctx context.Context, addr string) error {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true})
	defer c.Close()
	args := []any{"SENTINEL", "DEBUG"}
	for _, p := range sentinelPeriods {
		args = append(args, p, sentinelPeriod.Milliseconds())
	}
	if err := c.Do(ctx, args...).Err(); err != nil {
		return fmt.Errorf("sentinels of Redis 7 or newer are needed, which can be told how often to ask: %w", err)
	}
	return nil
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

// sentinelTime bounds what sentinels are waited for.
const sentinelTime = 30 * time.Second

// lagBehind has all replicas of a master under sentinels lag from now on. After a
// failover it waits until another one can begin.
func (l *Lab) lagBehind(p *place) error {
	ctx, cancel := context.WithTimeout(l.scene.ctx, sentinelTime)
	defer cancel()
	if p.former != nil {
		if err := l.Rejoin(ctx); err != nil {
			return err
		}
	}
	return l.Lag(ctx)
}

// Lag lets both replicas of a master under sentinels fall behind from now on: the
// primary refuses to send them more.
func (l *Lab) Lag(ctx context.Context) error {
	if _, err := l.agreed(ctx); err != nil {
		return err
	}
	p := l.places[0]
	l.note(p.name, "its replicas begin to lag")
	return errors.Join(
		p.primary.insist(ctx, "ACL", "SETUSER", "default", "-psync", "-sync"),
		p.primary.insist(ctx, "CLIENT", "KILL", "TYPE", "replica"),
	)
}

// failover is Failover, within the time that sentinels have.
func (l *Lab) failover(kill bool) error {
	ctx, cancel := context.WithTimeout(l.scene.ctx, sentinelTime)
	defer cancel()
	return l.Failover(ctx, kill)
}

// Failover has sentinels promote a replica, and returns when most of them say that they
// have: because the primary is killed, or because they are asked to while it is well.
// Then it goes on to serve those who have not heard of that yet, until Rejoin, or until
// the sentinels make a replica of it.
func (l *Lab) Failover(ctx context.Context, kill bool) error {
	p := l.places[0]
	old, err := l.agreed(ctx)
	switch {
	case err != nil:
	case kill:
		l.note(p.name, "killed")
		err = old.proc.Kill()
	default:
		l.note(p.name, "sentinels are asked for a failover")
		err = l.askFailover(ctx)
	}
	if err != nil {
		return err
	}
	switched := func() (bool, error) {
		now, err := l.elected(ctx, sentinelCount/2+1)
		return now != nil && now != old, err
	}
	again := monotonic() + failoverTimeout
	if err := l.poll(ctx, func() (bool, error) {
		if !kill && monotonic() > again { // a sentinel that finds no replica after all gives up
			again = monotonic() + failoverTimeout
			if err := l.askFailover(ctx); err != nil {
				return false, err
			}
		}
		return switched()
	}); err != nil {
		return fmt.Errorf("local: no replica was promoted: %w", err)
	}
	p.former = old
	l.note(p.name, "replica promoted")
	return nil
}

// askFailover asks a sentinel to promote a replica, until it finds one that it has heard
// of lately.
func (l *Lab) askFailover(ctx context.Context) error {
	c := redis.NewSentinelClient(&redis.Options{Addr: l.sentinels[0].Addr(), ContextTimeoutEnabled: true})
	defer c.Close()
	return l.poll(ctx, func() (bool, error) {
		err := c.Failover(ctx, primaryName).Err()
		switch {
		case err == nil || strings.HasPrefix(err.Error(), "INPROG"):
			return true, nil
		case strings.HasPrefix(err.Error(), "NOGOODSLAVE"):
			return false, nil
		}
		return false, err
	})
}

// agreed is the primary, once all sentinels name the same one.
func (l *Lab) agreed(ctx context.Context) (now *server, err error) {
	err = l.poll(ctx, func() (bool, error) {
		var err error
		now, err = l.elected(ctx, sentinelCount)
		return now != nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("local: sentinels do not agree: %w", err)
	}
	return now, nil
}

// Rejoin makes replicas of all servers but the primary that sentinels agree on, starts
// again what was killed, and returns when another failover can begin.
func (l *Lab) Rejoin(ctx context.Context) error {
	for {
		primary, err := l.agreed(ctx)
		if err != nil {
			return err
		}
		if err := l.gather(ctx, primary); err != nil {
			return err
		}
		if now, err := l.agreed(ctx); now == primary || err != nil {
			l.places[0].former = nil
			return err
		}
	}
}

// gather has all servers copy the primary.
func (l *Lab) gather(ctx context.Context, primary *server) error {
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
		err := s.allowSync(ctx)
		if s != primary && err == nil {
			err = s.insist(ctx, "REPLICAOF", host, port)
		}
		if err != nil {
			return err
		}
	}
	return l.awaitReplicas(ctx)
}

// allowSync lets a server send its data to replicas again.
func (s *server) allowSync(ctx context.Context) error {
	return s.insist(ctx, "ACL", "SETUSER", "default", "+psync", "+sync")
}

// insist has a server do what may be done twice: sentinels that make a replica of it
// close all connections to it.
func (s *server) insist(ctx context.Context, args ...any) (err error) {
	for range 3 {
		var refused redis.Error
		if err = s.direct.Do(ctx, args...).Err(); err == nil || errors.As(err, &refused) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// dissolve makes primaries of all servers that run, so that they can be used again.
func (l *Lab) dissolve(ctx context.Context) {
	for _, s := range l.servers {
		if s.runs() { // what fails is found when the server is cleared
			_ = errors.Join(s.allowSync(ctx), s.insist(ctx, "REPLICAOF", "NO", "ONE"))
		}
	}
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
