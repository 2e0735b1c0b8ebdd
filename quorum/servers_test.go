package quorum_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/single"
)

// servers are real masters.
type servers struct {
	t     *testing.T
	all   []*redisproc.Server
	admin []*redis.Client
}

func startServers(t *testing.T, n int) *servers {
	t.Helper()
	s := &servers{t: t}
	for range n {
		srv := redistest.StartT(t, redisproc.Options{})
		s.all = append(s.all, srv)
		s.admin = append(s.admin, s.client(t, srv.Addr(), nil))
	}
	return s
}

// client is closed when the test ends.
func (s *servers) client(t *testing.T, addr string, change func(*redis.Options)) *redis.Client {
	o := &redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1}
	if change != nil {
		change(o)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *servers) clients(t *testing.T, change func(*redis.Options)) (out []redis.UniversalClient) {
	for _, srv := range s.all {
		out = append(out, s.client(t, srv.Addr(), change))
	}
	return out
}

func (s *servers) store(t *testing.T, change func(*redis.Options)) election.Store {
	t.Helper()
	return newStore(t, s.clients(t, change), "job", single.Options{Logger: quiet, GuardsOff: election.AllGuards})
}

// elector is closed when the test ends.
func (s *servers) elector(t *testing.T, st election.Store, id string, change ...func(*election.Options)) election.Elector {
	t.Helper()
	o := election.Options{ID: id, TTL: 2 * time.Second, Logger: quiet}
	for _, f := range change {
		f(&o)
	}
	e, err := election.New(st, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, e) })
	return e
}

// do runs a command on server i.
func (s *servers) do(t *testing.T, i int, args ...any) any {
	t.Helper()
	v, err := s.admin[i].Do(context.Background(), args...).Result()
	if err != nil && err != redis.Nil {
		t.Fatalf("%v at server %d: %v", args, i, err)
	}
	return v
}

// pass lets real time pass.
func pass(d time.Duration) { <-time.After(d) }

func (s *servers) setup(t *testing.T, ttl time.Duration) *electiontest.Setup {
	for i := range s.all {
		s.do(t, i, "FLUSHALL")
	}
	return &electiontest.Setup{
		Masters: len(s.all), TTL: ttl,
		Options: election.Options{Logger: quiet},
		Open:    func() election.Store { return s.store(t, nil) },
		Lease: func(i int) (string, time.Duration) {
			v, _ := s.do(t, i, "GET", leaseKey).(string)
			ms, _ := s.do(t, i, "PTTL", leaseKey).(int64)
			return v, time.Duration(ms) * time.Millisecond
		},
		Delete: func(i int) { s.do(t, i, "DEL", leaseKey) },
		Wipe:   func(i int) { s.do(t, i, "FLUSHALL") },
		Wait:   pass,
	}
}

// onServers is a factory over one set of servers.
func onServers(s *servers, ttl time.Duration) electiontest.Factory {
	return func(t *testing.T, test func(*testing.T, *electiontest.Setup)) { test(t, s.setup(t, ttl)) }
}

func TestStoreOnServers(t *testing.T) {
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprintf("masters=%d", n), func(t *testing.T) {
			t.Parallel()
			electiontest.RunStore(t, onServers(startServers(t, n), 4*time.Second))
		})
	}
}

func TestElectorOnServers(t *testing.T) {
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprintf("masters=%d", n), func(t *testing.T) {
			t.Parallel()
			electiontest.RunElector(t, onServers(startServers(t, n), 2*time.Second))
		})
	}
}
