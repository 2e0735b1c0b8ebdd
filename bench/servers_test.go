package bench_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"incumbent/bench"
	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/quorum"
	"incumbent/single"
)

// servers are what ServersEnv names, or started once where it says so. None means that
// servers are embedded.
var servers = sync.OnceValues(func() ([]string, error) {
	switch list := os.Getenv(bench.ServersEnv); list {
	case "":
		return nil, nil
	case bench.StartServers:
		return startServers()
	default:
		return strings.Split(list, ","), nil
	}
})

var started []*redisproc.Server // TestMain ends them

func startServers() (addrs []string, err error) {
	for range 5 {
		s, err := redisproc.Start(context.Background(), redisproc.Options{})
		if err != nil {
			return nil, err
		}
		started = append(started, s)
		addrs = append(addrs, s.Addr())
	}
	return addrs, nil
}

// onReal reports whether there are real servers.
func onReal() bool { return os.Getenv(bench.ServersEnv) != "" }

// modes are what every benchmark compares: those for which there are servers.
func modes(b *testing.B) []bench.Mode {
	b.Helper()
	if !onReal() {
		return bench.Modes()
	}
	list, err := servers()
	if err != nil {
		b.Fatal(err)
	}
	return bench.Serve(bench.Modes(), len(list))
}

const (
	prefix = bench.Prefix
	ttl    = 10 * time.Second
)

// addresses gives n servers: the user's, or embedded ones.
func addresses(b *testing.B, n int) []string {
	b.Helper()
	list, err := servers()
	if err != nil {
		b.Fatal(err)
	}
	if list != nil {
		return list[:n] // modes leaves out those that need more
	}
	var addrs []string
	for range n {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		if err := m.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(m.Close)
		addrs = append(addrs, m.Addr())
	}
	return addrs
}

func connect(b *testing.B, addr string) *redis.Client {
	b.Helper()
	c := redis.NewClient(&redis.Options{
		Addr: addr, Protocol: 2, MaxRetries: -1, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := c.Ping(context.Background()).Err(); err != nil {
		b.Fatalf("server %s: %v", addr, err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	return c
}

// store makes a store on n servers and removes its keys at the end.
func store(b *testing.B, n int) election.Store {
	b.Helper()
	name := electionName()
	var clients []redis.UniversalClient
	for _, addr := range addresses(b, n) {
		c := connect(b, addr)
		clients = append(clients, c)
		b.Cleanup(func() { remove(b, c, name) })
	}
	var s interface {
		election.Store
		Init(context.Context) error
	}
	var err error
	if n == 1 {
		s, err = single.New(clients[0], name, single.Options{Prefix: prefix})
	} else {
		s, err = quorum.New(clients, name, quorum.Options{Prefix: prefix})
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Init(context.Background()); err != nil { // or the first bid waits for guards
		b.Fatal(err)
	}
	b.Cleanup(func() { settle(b, s) })
	return s
}

// electionName is a fresh one.
func electionName() string { return fmt.Sprintf("bench-%d-%d", os.Getpid(), time.Now().UnixNano()) }

// remove deletes what a benchmark wrote.
func remove(b *testing.B, c *redis.Client, name string) {
	key := prefix + ":{" + name + "}:"
	if err := c.Del(context.Background(), key+"lease", key+"record").Err(); err != nil {
		b.Error(err)
	}
}

func settle(b *testing.B, s election.Store) {
	ctx, cancel := context.WithTimeout(context.Background(), ttl)
	defer cancel()
	if err := s.Settle(ctx); err != nil {
		b.Error(err)
	}
}

// bidder numbers bids, since no value may come twice.
type bidder int

func (n *bidder) next() election.Bid {
	*n++
	return election.Bid{Value: fmt.Sprintf("bench-%d-%d", os.Getpid(), *n), Candidate: election.Candidate{ID: "bench"}, TTL: ttl}
}
