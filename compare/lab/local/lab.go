package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/vote"
)

// Lab is a set of running masters and candidates. One goroutine uses it at a
// time.
type Lab struct {
	opt       Options
	keys      vote.Keys
	stock     *stock // of the servers that the lab started; nil with Options.Servers
	own       bool   // the stock ends with the lab
	servers   []*server
	places    []*place
	spares    []*server
	sentinels sentinels
	proxies   [][]*blackhole.Proxy // by slot, then master; nil without Options.Proxies
	exchange  *exchange            // behind all proxies; nil without Options.Far
	fleet     fleet
	rec       *recorder
	resource  resource
	random    *rand.Rand
	scene     *scene // what is being played, or was last
	said      int    // lines that are the lab's own
	closing   sync.Once
}

// stopGrace is what a candidate gets to exit when its input has closed, and giveTime
// what all servers get to be as they were.
const (
	stopGrace = 2 * time.Second
	giveTime  = 5 * time.Second
)

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
		opt: o, keys: keys, stock: o.stock, rec: newRecorder(), random: rand.New(rand.NewPCG(o.Seed, 1)),
		fleet: fleet{all: make([]*candidate, o.Candidates), born: make([]int, o.Candidates)},
		scene: &scene{ctx: context.Background()},
	}
	if err := l.build(ctx); err != nil {
		l.Close()
		return nil, fmt.Errorf("local: %w", err)
	}
	return l, nil
}

func (l *Lab) build(ctx context.Context) error {
	if err := l.addMasters(ctx); err != nil {
		return err
	}
	if err := l.addSpares(ctx); err != nil {
		return err
	}
	if err := l.addSentinels(ctx); err != nil {
		return err
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

// addMasters starts all masters, unless they run already, and connects to them.
func (l *Lab) addMasters(ctx context.Context) (err error) {
	switch {
	case l.opt.Far != nil:
		l.farMasters()
		return l.farLinks()
	case l.opt.Servers != nil:
		for _, addr := range l.opt.Servers {
			s := &server{addr: addr}
			l.servers = append(l.servers, s)
			err = errors.Join(err, s.connect(ctx))
		}
	default:
		err = l.order(ctx)
	}
	if err != nil {
		return err
	}
	for i, s := range l.servers {
		l.places = append(l.places, &place{name: fmt.Sprintf("master-%d", i+1), primary: s, servers: []*server{s}})
	}
	return nil
}

// order takes the masters from stock.
func (l *Lab) order(ctx context.Context) (err error) {
	if l.stock == nil {
		l.own = true
		if l.stock, err = newStock(l.opt.ServerBinary, l.opt.FakeTime, l.opt.clocks); err != nil {
			return err
		}
	}
	l.servers, err = l.stock.take(ctx, l.opt.Masters, false)
	return err
}

// addSpares gets what can become a replica, and gives each master the replica that
// must acknowledge.
func (l *Lab) addSpares(ctx context.Context) error {
	n := l.opt.spares + l.opt.ReplicaAcks*l.opt.Masters
	if l.opt.Sentinels {
		n = sentinelReplicas
	}
	if n == 0 {
		return nil
	}
	spares, err := l.stock.take(ctx, n, true)
	if err != nil {
		return err
	}
	l.servers, l.spares = append(l.servers, spares...), spares
	var ripe time.Duration
	for _, s := range spares {
		ripe = max(ripe, s.born+l.opt.TTL+ripening)
	}
	if err := l.Wait(ctx, ripe-monotonic()); err != nil {
		return err
	}
	if l.opt.Sentinels {
		return nil
	}
	for _, p := range l.places {
		if err := l.replicate(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// ripening is how much longer than a TTL a server must be up before no restart guard
// holds it back: a second, and another one since uptimes are told in whole ones.
const ripening = 2 * time.Second

// addProxies puts proxies in front of the masters for the next slot.
func (l *Lab) addProxies() error {
	if !l.opt.Proxies {
		return nil
	}
	row := make([]*blackhole.Proxy, 0, len(l.places))
	for _, at := range l.places {
		target := at.primary.addr
		if l.exchange != nil {
			target = l.exchange.listener.Addr().String()
		}
		p, err := blackhole.New(target)
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
	out := make([]string, len(l.places))
	for i, p := range l.places {
		out[i] = p.primary.addr
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
	if l.exchange != nil {
		l.exchange.close()
	}
	l.sentinels.stop()
	if l.own || l.stock == nil {
		stopAll(l.servers)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), giveTime)
		defer cancel()
		if l.opt.Sentinels {
			l.dissolve(ctx)
		}
		l.stock.give(ctx, l.servers)
	}
	if l.own && l.stock != nil {
		_ = l.stock.close() // what is left of files is in the temporary folder
	}
}

// Servers are the masters, where the lab started them, without their replicas. The
// lab stops them.
func (l *Lab) Servers() (list []*redisproc.Server) {
	for _, p := range l.places {
		if p.primary.proc != nil {
			list = append(list, p.primary.proc)
		}
	}
	return list
}

// Options are the lab's, with defaults filled in.
func (l *Lab) Options() Options { return l.opt }
