package single_test

import (
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
	"incumbent/single"
)

const (
	leaseKey  = "incumbent:{job}:lease"
	recordKey = "incumbent:{job}:record"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// world is a simulated network with one master.
type world struct {
	*simnet.World
	t     *testing.T
	m     *simnet.Master
	hosts int
}

func inWorld(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, err := simnet.New(1, simnet.Options{Uptime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{World: net, t: t, m: net.AddMaster("m")}
		defer w.Close()
		f(t, w)
	})
}

// store makes a store on host.
func (w *world) store(host string, change ...func(*redis.Options)) *single.Store {
	w.t.Helper()
	return newStore(w.t, w.Client(host, w.m, func(o *redis.Options) {
		for _, f := range change {
			f(o)
		}
	}))
}

func newStore(t *testing.T, c redis.UniversalClient) *single.Store {
	t.Helper()
	st, err := single.New(c, "job", single.Options{Logger: quiet, GuardsOff: election.AllGuards, Clock: election.RuntimeClock()})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func newElector(t *testing.T, st election.Store, id string, change ...func(*election.Options)) election.Elector {
	t.Helper()
	o := election.Options{ID: id, TTL: 3 * time.Second, Logger: quiet, Clock: election.RuntimeClock()}
	for _, f := range change {
		f(&o)
	}
	e, err := election.New(st, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (w *world) setup() *electiontest.Setup {
	return &electiontest.Setup{
		Masters: 1, TTL: 3 * time.Second,
		Options: election.Options{Clock: election.RuntimeClock(), Logger: quiet},
		Open: func() election.Store {
			w.hosts++
			return w.store(fmt.Sprintf("h%d", w.hosts))
		},
		Lease: func(int) (string, time.Duration) {
			v, _ := w.m.Get(leaseKey)
			return v, w.m.PTTL(leaseKey)
		},
		Delete:   func(int) { w.m.Evict(leaseKey) },
		Wipe:     func(int) { w.m.FlushAll() },
		Commands: func() int { return w.m.Commands("", "") },
		Wait:     time.Sleep, // of virtual time
	}
}

func virtual(t *testing.T, test func(*testing.T, *electiontest.Setup)) {
	inWorld(t, func(t *testing.T, w *world) { test(t, w.setup()) })
}
