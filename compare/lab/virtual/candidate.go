package virtual

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/history"
	"incumbent/election"
	"incumbent/internal/simnet"
	"incumbent/internal/vote"
	"incumbent/quorum"
	"incumbent/single"
)

// electionName is the one election of this lab.
const electionName = "job"

// actsPerTTL is how often a leader acts.
const actsPerTTL = 10

// candidate is a simulated process that takes part in the election and, while it
// leads, acts on the resource. Each act is checked, sent, and waited for.
type candidate struct {
	name     string
	w        *simnet.World
	rec      *recorder
	resource *resource
	elector  election.Elector
	timers   *timers
	every    time.Duration

	acts   *simnet.Source // when it acts, and how long acts travel
	gate   func()
	resign chan struct{} // asks the work to end

	freezing atomic.Bool   // freeze at the next act, before its write
	frozen   chan struct{} // told when that has happened
	killed   bool          // by the lab, and for the lab only
}

// newCandidate makes the process with that index, connected to nothing yet.
func newCandidate(s Spec, i int, name string, w *simnet.World, masters []*simnet.Master, r *resource) (*candidate, error) {
	c := &candidate{
		name: name, w: w, rec: r.rec, resource: r, every: s.TTL / actsPerTTL,
		acts: w.Source(name + "/act"), gate: w.Gate(name, "act"),
		resign: make(chan struct{}, 1), frozen: make(chan struct{}, 1),
	}
	st, err := newStore(s, name, w, masters)
	if err != nil {
		return nil, err
	}
	own := newClock(w, name, "elector")
	c.timers = own.timers
	a := &alias{Store: st, host: name, pid: i + 1}
	if s.Mode != "single" {
		a.bids = c.acts
	}
	c.elector, err = election.New(a, election.Options{
		ID: name, TTL: s.TTL, Renew: s.Renew, Logger: slog.New(slog.DiscardHandler), Observer: r.rec.observer(name),
		Clock: own, Random: w.Source(name + "/random").Uint64,
	})
	return c, err
}

// store is what both modes have.
type store interface {
	election.Store
	Init(ctx context.Context) error
}

// newStore connects a host to the masters.
func newStore(s Spec, host string, w *simnet.World, masters []*simnet.Master) (store, error) {
	clients := make([]redis.UniversalClient, len(masters))
	for i, m := range masters {
		clients[i] = w.Client(host, m, nil)
	}
	f, err := s.fault()
	if err != nil {
		return nil, err
	}
	opts := vote.Options{Logger: slog.New(slog.DiscardHandler), Clock: newClock(w, host, "store"), ReplicaAcks: f.Acks}
	if s.guards() == history.GuardsOff {
		opts.GuardsOff = election.AllGuards
	}
	if s.Mode == "single" {
		return single.New(clients[0], electionName, opts)
	}
	return quorum.New(clients, electionName, opts)
}

// run is the process: it campaigns and works until ctx ends.
func (c *candidate) run(ctx context.Context) {
	time.Sleep(c.acts.Until(c.acts.Between(0, 10*time.Millisecond)))
	for ctx.Err() == nil {
		if err := election.Run(ctx, c.elector, c.work); err != nil {
			c.rec.add(history.Event{Actor: c.name, Kind: history.Note, Name: "campaign failed", Err: word(err)})
			return
		}
	}
}

// work is what a leader does. Its first act raises the token at the resource.
func (c *candidate) work(ctx context.Context, t *election.Term) error {
	select {
	case <-c.resign: // meant for an earlier term
	default:
	}
	for {
		c.act(t)
		timer := time.NewTimer(c.acts.Until(c.every))
		select {
		case <-timer.C:
			c.gate()
		case <-c.resign:
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// act checks that it leads, and writes. It returns when it knows that the write
// has arrived.
func (c *candidate) act(t *election.Term) {
	if !t.Valid() {
		return
	}
	token := uint64(t.Token())
	c.rec.add(history.Event{Actor: c.name, Kind: history.Checked, Token: token})
	c.yield()
	arrived := make(chan struct{})
	time.AfterFunc(c.acts.Until(c.travel()), func() {
		c.resource.take(c.name, token)
		close(arrived)
	})
	<-arrived
	time.Sleep(c.acts.Until(c.travel()))
	c.gate()
}

// yield is the place between check and write at which a process can be paused.
func (c *candidate) yield() {
	if c.freezing.CompareAndSwap(true, false) {
		c.w.Freeze(c.name)
		c.frozen <- struct{}{}
	}
	c.gate()
}

// travel draws how long an act, or its answer, is on its way.
func (c *candidate) travel() time.Duration {
	return c.acts.Between(simnet.LAN.Min, simnet.LAN.Max)
}

// stop waits until the process, whose context has ended, is gone.
func (c *candidate) stop(wg *sync.WaitGroup) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := c.elector.Close(ctx)
	wg.Wait()
	return err
}
