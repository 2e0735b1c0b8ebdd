package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/vote"
)

// Lab is a set of running masters and candidates. One goroutine uses it at a
// time.
type Lab struct {
	opt      Options
	keys     vote.Keys
	addrs    []string             // of all masters
	masters  []*redisproc.Server  // those that the lab started
	direct   []*redis.Client      // the lab's own connections, past all proxies
	proxies  [][]*blackhole.Proxy // by slot, then master; nil without Options.Proxies
	fleet    fleet
	rec      *recorder
	resource resource
	random   *rand.Rand
	struckAt time.Duration // when a fault struck last
	closing  sync.Once
}

// stopGrace is what a candidate gets to exit when its input has closed.
const stopGrace = 2 * time.Second

// Open starts masters and candidates. It does not wait for a leader. ctx bounds
// the start; Close ends all of it. Whatever fails, nothing is left running.
func Open(ctx context.Context, o Options) (*Lab, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	keys, err := vote.NewKeys(o.Prefix, o.Election)
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	l := &Lab{
		opt: o, keys: keys, rec: newRecorder(), random: rand.New(rand.NewPCG(o.Seed, 1)),
		fleet: fleet{all: make([]*candidate, o.Candidates), born: make([]int, o.Candidates)},
	}
	if err := l.build(ctx); err != nil {
		l.Close()
		return nil, fmt.Errorf("local: %w", err)
	}
	return l, nil
}

func (l *Lab) build(ctx context.Context) error {
	for i := range l.opt.Masters {
		if err := l.addMaster(ctx, i); err != nil {
			return err
		}
	}
	if err := l.init(ctx); err != nil {
		return err
	}
	for slot := range l.opt.Candidates {
		if err := l.addProxies(); err != nil {
			return err
		}
		if err := l.enter(slot); err != nil {
			return err
		}
	}
	return nil
}

// addMaster starts a master, unless it runs already, and connects to it.
func (l *Lab) addMaster(ctx context.Context, i int) error {
	if l.opt.Servers != nil {
		l.addrs = append(l.addrs, l.opt.Servers[i])
	} else {
		s, err := redisproc.Start(ctx, redisproc.Options{})
		if err != nil {
			return err
		}
		l.masters = append(l.masters, s)
		l.addrs = append(l.addrs, s.Addr())
	}
	c := redis.NewClient(&redis.Options{
		Addr: l.addrs[i], Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true, MaxRetries: -1,
	})
	l.direct = append(l.direct, c)
	return c.Ping(ctx).Err() // so that the first question finds a connection
}

// addProxies puts proxies in front of the masters for the next slot.
func (l *Lab) addProxies() error {
	if !l.opt.Proxies {
		return nil
	}
	row := make([]*blackhole.Proxy, 0, len(l.addrs))
	for _, addr := range l.addrs {
		p, err := blackhole.New(addr)
		if err != nil {
			return errors.Join(err, closeAll(row))
		}
		row = append(row, p)
	}
	l.proxies = append(l.proxies, row)
	return nil
}

func closeAll(row []*blackhole.Proxy) error {
	var errs []error
	for _, p := range row {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// addresses is where the candidate of a slot finds the masters.
func (l *Lab) addresses(slot int) []string {
	out := slices.Clone(l.addrs)
	for i := range out {
		if l.opt.Proxies {
			out[i] = l.proxies[slot][i].Addr()
		}
	}
	return out
}

// enter starts the next process of a slot.
func (l *Lab) enter(slot int) error {
	c, err := l.launch(l.fleet.name(slot), slot)
	if err != nil {
		return fmt.Errorf("start a candidate: %w", err)
	}
	l.fleet.set(slot, c)
	return nil
}

// Close ends all processes and proxies that the lab started, in whatever state
// they are, and waits for them. It may be called more than once.
func (l *Lab) Close() { l.closing.Do(l.close) }

func (l *Lab) close() {
	var wg sync.WaitGroup
	for _, c := range l.fleet.all {
		if c != nil {
			wg.Go(func() { c.stop(stopGrace) })
		}
	}
	wg.Wait()
	for _, row := range l.proxies {
		_ = closeAll(row) // closing listeners: nothing follows from a failure
	}
	for _, c := range l.direct {
		_ = c.Close()
	}
	for _, s := range l.masters {
		wg.Go(func() { _ = s.Stop() }) // it kills what does not end
	}
	wg.Wait()
}

// Masters are the servers that the lab started, for faults that strike them. The
// lab stops them.
func (l *Lab) Masters() []*redisproc.Server { return l.masters }

// Options are the lab's, with defaults filled in.
func (l *Lab) Options() Options { return l.opt }
