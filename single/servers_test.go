package single_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/single"
)

// server is a real server with a client for what the test does to it.
type server struct {
	*redisproc.Server
	admin *redis.Client
}

func startServer(t *testing.T, o redisproc.Options) *server {
	t.Helper()
	s := redistest.StartT(t, o)
	return &server{s, client(t, s.Addr(), func(c *redis.Options) { c.Password = o.Password })}
}

// client is closed when the test ends.
func client(t *testing.T, addr string, change ...func(*redis.Options)) *redis.Client {
	o := &redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1}
	for _, f := range change {
		f(o)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *server) store(t *testing.T, change ...func(*redis.Options)) *single.Store {
	t.Helper()
	return newStore(t, client(t, s.Addr(), change...))
}

// elector is closed when the test ends.
func elector(t *testing.T, st election.Store, id string, change ...func(*election.Options)) election.Elector {
	t.Helper()
	e := newElector(t, st, id, append([]func(*election.Options){func(o *election.Options) { o.TTL, o.Clock = 1500*time.Millisecond, nil }}, change...)...)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Logf("close: %v", err) // the servers of some tests refuse the release
		}
	})
	return e
}

// do runs a command on the server.
func (s *server) do(t *testing.T, args ...any) any {
	t.Helper()
	v, err := s.admin.Do(context.Background(), args...).Result()
	if err != nil && err != redis.Nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

// pass lets real time pass.
func pass(d time.Duration) { <-time.After(d) }

// await polls until f is true.
func await(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !f(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

func onServer(s *server, ttl time.Duration) electiontest.Factory {
	return func(t *testing.T, test func(*testing.T, *electiontest.Setup)) {
		s.do(t, "FLUSHALL")
		test(t, &electiontest.Setup{
			Masters: 1, TTL: ttl,
			Options: election.Options{Logger: quiet},
			Open:    func() election.Store { return s.store(t) },
			Lease: func(int) (string, time.Duration) {
				v, _ := s.do(t, "GET", leaseKey).(string)
				ms, _ := s.do(t, "PTTL", leaseKey).(int64)
				return v, time.Duration(ms) * time.Millisecond
			},
			Delete: func(int) { s.do(t, "DEL", leaseKey) },
			Wipe:   func(int) { s.do(t, "FLUSHALL") },
			Wait:   pass,
		})
	}
}

func TestStoreOnServer(t *testing.T) {
	t.Parallel()
	electiontest.RunStore(t, onServer(startServer(t, redisproc.Options{}), 4*time.Second))
}

func TestElectorOnServer(t *testing.T) {
	t.Parallel()
	electiontest.RunElector(t, onServer(startServer(t, redisproc.Options{}), 2*time.Second))
}
