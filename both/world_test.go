package both_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/both"
	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/internal/simnet"
	"incumbent/internal/vote"
	"incumbent/quorum"
	"incumbent/single"
)

const (
	leaseKey  = "incumbent:{job}:lease"
	recordKey = "incumbent:{job}:record"
)

var quiet = slog.New(slog.DiscardHandler)

// layout says which servers the two stores are made of, by index into the masters
// of a world: one index is single, more are quorum.
type layout struct {
	name     string
	one, two []int
	all      []int // of both, those first of which a minority can be lost
}

var (
	// apart is a primary and three other masters.
	apart = layout{"apart", []int{3}, []int{0, 1, 2}, []int{0, 1, 2, 3}}
	// sharing is a primary that is one of the masters, too.
	sharing = layout{"sharing", []int{0}, []int{0, 1, 2}, []int{1, 2, 0, 0}}
	// replacing is a quorum in which one master gives way to another.
	replacing = layout{"replacing", []int{0, 1, 2}, []int{0, 1, 3}, []int{2, 3, 0, 1, 0, 1}}
	layouts   = []layout{apart, sharing, replacing}
)

// servers is how many there are.
func (l layout) servers() int { return slices.Max(l.all) + 1 }

// listeners is how many subscriptions a candidate has at a server, at most.
func (l layout) listeners() int {
	n := map[int]int{}
	for _, i := range l.all {
		n[i]++
	}
	return slices.Max(slices.Collect(maps.Values(n)))
}

// world is a simulated network with the servers of a layout.
type world struct {
	*simnet.World
	t        *testing.T
	layout   layout
	masters  []*simnet.Master
	electors []election.Elector
	hosts    int
	opt      vote.Options
	ttl      time.Duration
}

func inWorld(t *testing.T, seed uint64, l layout, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, err := simnet.New(seed, simnet.Options{Uptime: time.Hour, Residues: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{
			World: net, t: t, layout: l, ttl: 3 * time.Second,
			opt: vote.Options{Logger: quiet, AssumeNew: true, Clock: election.RuntimeClock()},
		}
		for i := range l.servers() {
			w.masters = append(w.masters, net.AddMaster(fmt.Sprintf("m%d", i+1)))
		}
		defer w.Close()
		defer w.closeElectors()
		f(t, w)
	})
}

// eachLayout runs f in a world of its own for each layout, side by side.
func eachLayout(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, 1, l, f)
		})
	}
}

// on makes a store on the masters with these indices: single on one, else quorum.
func (w *world) on(host string, masters []int) election.Store {
	w.t.Helper()
	var clients []redis.UniversalClient
	for _, i := range masters {
		clients = append(clients, w.Client(host, w.masters[i], nil))
	}
	var st election.Store
	var err error
	if len(clients) == 1 {
		st, err = single.New(clients[0], "job", w.opt)
	} else {
		st, err = quorum.New(clients, "job", w.opt)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

// Stores of the three kinds that candidates may have during a move.
func (w *world) one(host string) election.Store { return w.on(host, w.layout.one) }
func (w *world) two(host string) election.Store { return w.on(host, w.layout.two) }
func (w *world) both(host string) *both.Store {
	return join(w.t, w.one(host), w.two(host))
}

func join(t *testing.T, one, two election.Store) *both.Store {
	t.Helper()
	st, err := both.New(one, two, both.Options{First: "single", Second: "quorum"})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// open makes a store of both on a host of its own.
func (w *world) open() election.Store {
	w.hosts++
	return w.both(fmt.Sprintf("h%d", w.hosts))
}

// elector makes a candidate on host with such a store.
func (w *world) elector(host string, st election.Store, change ...func(*election.Options)) election.Elector {
	w.t.Helper()
	o := election.Options{ID: host, TTL: w.ttl, Logger: quiet, Clock: election.RuntimeClock(), Random: w.Source(host).Uint64}
	for _, f := range change {
		f(&o)
	}
	e, err := election.New(st, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.electors = append(w.electors, e)
	return e
}

// closeElectors ends what a test that failed half-way has left running: a bubble
// does not end before.
func (w *world) closeElectors() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, e := range w.electors {
		_ = e.Close(ctx) // the test has judged it
	}
}

// commands counts what all masters were sent by host; "" is everybody.
func (w *world) commands(host string) (n int) {
	for _, m := range w.masters {
		n += m.Commands(host, "")
	}
	return n
}

// value is the lease at master i.
func (w *world) value(i int) string {
	v, _ := w.masters[i].Get(leaseKey)
	return v
}

// field is one of the record at master i.
func (w *world) field(i int, name string) string { return w.masters[i].HGetAll(recordKey)[name] }

// setup is this world for the conformance suite.
func (w *world) setup() *electiontest.Setup {
	all := w.layout.all
	return &electiontest.Setup{
		Masters: len(all), Listeners: w.layout.listeners(), TTL: w.ttl,
		Options: election.Options{Clock: election.RuntimeClock(), Logger: quiet},
		Open:    w.open,
		Lease: func(i int) (string, time.Duration) {
			return w.value(all[i]), w.masters[all[i]].PTTL(leaseKey)
		},
		Delete:   func(i int) { w.masters[all[i]].Evict(leaseKey) },
		Wipe:     func(i int) { w.masters[all[i]].FlushAll() },
		Commands: func() int { return w.commands("") },
		Wait:     time.Sleep, // of virtual time
	}
}

// bid is one of a candidate with that id.
func (w *world) bid(id, value string) election.Bid {
	return election.Bid{Value: value, Candidate: election.Candidate{ID: id, Instance: id}, TTL: w.ttl}
}

func win(t *testing.T, st election.Store, b election.Bid) election.Grant {
	t.Helper()
	g, err := st.Acquire(t.Context(), b)
	if err != nil {
		t.Fatalf("acquire by %s: %v", b.Candidate.ID, err)
	}
	return g
}

// campaign wins a term or fails the test.
func campaign(t *testing.T, e election.Elector) *election.Term {
	t.Helper()
	term, err := e.Campaign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func settle(t *testing.T, stores ...election.Store) {
	t.Helper()
	for _, st := range stores {
		if err := st.Settle(t.Context()); err != nil {
			t.Errorf("settle: %v", err)
		}
	}
}
