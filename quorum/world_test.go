package quorum_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/internal/simnet"
	"incumbent/quorum"
	"incumbent/single"
)

const (
	leaseKey  = "incumbent:{job}:lease"
	recordKey = "incumbent:{job}:record"
)

// modes are what both stores must do alike: the number of masters.
var modes = []int{1, 3, 5}

// eachMode runs f in a world of its own for single, quorum of 3 and of 5, side by
// side.
func eachMode(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for _, n := range modes {
		t.Run(fmt.Sprintf("masters=%d", n), func(t *testing.T) {
			t.Parallel()
			inWorld(t, 1, n, f)
		})
	}
}

// world is a simulated network with the masters of one election.
type world struct {
	*simnet.World
	t        *testing.T
	masters  []*simnet.Master
	electors []election.Elector
	hosts    int
	opt      single.Options
}

func inWorld(t *testing.T, seed uint64, masters int, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, err := simnet.New(seed, simnet.Options{Uptime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{World: net, t: t, opt: single.Options{Logger: quiet, AssumeNew: true, Clock: election.RuntimeClock()}}
		for i := range masters {
			w.masters = append(w.masters, net.AddMaster(fmt.Sprintf("m%d", i+1)))
		}
		defer w.Close()
		defer w.closeElectors()
		f(t, w)
	})
}

var (
	quiet        = slog.New(slog.NewTextHandler(io.Discard, nil))
	quietOptions = single.Options{Logger: quiet, GuardsOff: election.AllGuards}
)

// need is a majority of the masters.
func (w *world) need() int { return len(w.masters)/2 + 1 }

// store makes a store on host: single on one master, else quorum.
func (w *world) store(host string, change ...func(*redis.Options)) election.Store {
	w.t.Helper()
	return newStore(w.t, w.clients(host, change...), "job", w.opt)
}

// clients makes a client on host for each master.
func (w *world) clients(host string, change ...func(*redis.Options)) []redis.UniversalClient {
	clients := make([]redis.UniversalClient, len(w.masters))
	for i, m := range w.masters {
		clients[i] = w.Client(host, m, func(o *redis.Options) {
			for _, f := range change {
				f(o)
			}
		})
	}
	return clients
}

func newStore(t *testing.T, clients []redis.UniversalClient, name string, o single.Options) election.Store {
	t.Helper()
	var st election.Store
	var err error
	if len(clients) == 1 {
		st, err = single.New(clients[0], name, o)
	} else {
		st, err = quorum.New(clients, name, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// open makes a store on a host of its own.
func (w *world) open() election.Store {
	w.hosts++
	return w.store(fmt.Sprintf("h%d", w.hosts))
}

// elector makes a candidate on host.
func (w *world) elector(host string, change ...func(*election.Options)) election.Elector {
	w.t.Helper()
	return w.electorOn(host, w.store(host), change...)
}

func (w *world) electorOn(host string, st election.Store, change ...func(*election.Options)) election.Elector {
	w.t.Helper()
	o := election.Options{
		ID: host, TTL: 3 * time.Second, Logger: quiet,
		Clock: election.RuntimeClock(), Random: w.Source(host).Uint64,
	}
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

// holders counts the masters at which value is the lease.
func (w *world) holders(value string) (n int) {
	for _, m := range w.masters {
		if v, _ := m.Get(leaseKey); v == value {
			n++
		}
	}
	return n
}

// deleteLease removes the lease at the first n masters.
func (w *world) deleteLease(n int) {
	for _, m := range w.masters[:n] {
		m.Evict(leaseKey)
	}
}

// setup is this world for the conformance suite.
func (w *world) setup() *electiontest.Setup {
	return &electiontest.Setup{
		Masters: len(w.masters), TTL: 3 * time.Second,
		Options: election.Options{Clock: election.RuntimeClock(), Logger: quiet},
		Open:    w.open,
		Lease: func(i int) (string, time.Duration) {
			v, _ := w.masters[i].Get(leaseKey)
			return v, w.masters[i].PTTL(leaseKey)
		},
		Delete:   func(i int) { w.masters[i].Evict(leaseKey) },
		Wipe:     func(i int) { w.masters[i].FlushAll() },
		Commands: func() int { return w.commands("") },
		Wait:     time.Sleep, // of virtual time
	}
}
