package single_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/single"
)

// After a failover the old primary may live on, as a replica or cut off, and with it
// the subscription of a standby: that moves to the primary that bids meet, or nobody
// would be woken, and a leader that resigns would believe that nobody waits.
func TestStandbyListensWhereItBids(t *testing.T) {
	t.Parallel()
	old, next := startServer(t, redisproc.Options{}), startServer(t, redisproc.Options{})
	var current atomic.Value
	current.Store(old.Addr())
	bySentinel := client(t, "primary:0", func(o *redis.Options) {
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, current.Load().(string))
		}
	})
	leaders := guarded(t, client(t, next.Addr()))
	g, err := leaders.Acquire(t.Context(), bid("leader", 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	standby := guarded(t, bySentinel)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hints, err := standby.Released(ctx)
	if err != nil {
		t.Fatal(err)
	}
	<-hints // the subscription stands
	if _, err := standby.Renew(t.Context(), g); !errors.Is(err, election.ErrExpired) {
		t.Fatalf("the old primary knows the lease: %v", err)
	}
	if _, err := standby.Acquire(t.Context(), bid("standby", time.Second)); err != nil { // it has met the old one
		t.Fatal(err)
	}

	current.Store(next.Addr())
	old.do(t, "CLIENT", "KILL", "TYPE", "normal") // as when clients hear of the failover; subscriptions stay
	await(t, 10*time.Second, "a bid that meets the new primary", func() bool {
		var held *election.HeldError
		_, err := standby.Acquire(t.Context(), bid("standby", time.Second))
		return errors.As(err, &held)
	})
	await(t, 10*time.Second, "the subscription moves", func() bool {
		return listeners(t, old) == 0 && listeners(t, next) == 1
	})
	select {
	case <-hints: // for a release that came between the bid and that
	case <-time.After(10 * time.Second):
		t.Error("the standby does not look again")
	}
	r, err := leaders.Release(t.Context(), g)
	if err != nil || r.Waiting != 1 {
		t.Errorf("%d are told of the release, %v; want 1", r.Waiting, err)
	}
	select {
	case <-hints:
	case <-time.After(10 * time.Second):
		t.Error("the standby is not woken")
	}
}

// guarded is a store whose guards have nothing to wait for.
func guarded(t *testing.T, c *redis.Client) *single.Store {
	t.Helper()
	st := newStore(t, c)
	if err := st.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	return st
}

// listeners is how many wait for releases at a server.
func listeners(t *testing.T, s *server) (n int) {
	t.Helper()
	list, ok := s.do(t, "CLIENT", "LIST", "TYPE", "pubsub").(string)
	if !ok {
		t.Fatal("no list of clients")
	}
	return strings.Count(list, "\n")
}
