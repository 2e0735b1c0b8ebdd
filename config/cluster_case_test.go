package config

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// startCluster makes a Cluster of three masters that share the slots.
func startCluster(t *testing.T) (addresses []string) {
	t.Helper()
	var nodes []*redis.Client
	for range 3 {
		s := redistest.StartT(t, redisproc.Options{Cluster: true})
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		t.Cleanup(func() { _ = c.Close() })
		nodes, addresses = append(nodes, c), append(addresses, s.Addr())
	}
	for i, c := range nodes {
		noErr(t, c.Do(t.Context(), "CLUSTER", "FLUSHSLOTS").Err())
		noErr(t, c.Do(t.Context(), "CLUSTER", "RESET", "HARD").Err())
		noErr(t, c.Do(t.Context(), "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		noErr(t, c.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", i*16384/3, (i+1)*16384/3-1).Err())
	}
	for _, a := range addresses[1:] {
		host, port, _ := net.SplitHostPort(a)
		noErr(t, nodes[0].Do(t.Context(), "CLUSTER", "MEET", host, port).Err())
	}
	for _, c := range nodes {
		await(t, 30*time.Second, "the Cluster is whole", func() bool {
			info, err := c.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return addresses
}

// await polls until f is true.
func await(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !f(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// D13: elections with all kinds of names are led on a Cluster of three masters, where
// their slots are; lease and record share one. Without a Cluster client it is refused
// up front. D15: its members are no quorum.
func TestD13_ClusterOfThreeMasters(t *testing.T) {
	t.Parallel()
	addresses := startCluster(t)
	c := fast(ModeSingle, "")
	c.Single.Cluster.Addresses = addresses[:1] // the others are found
	cl := open(t, c)
	names := []string{"plain", "{braced}", "a{b}c", "}{", "{}", "{", "}", "%7B", "{a}{b}", "ünï", "job-1", "job-2", "job-3", "job-4"}
	for _, name := range names {
		noErr(t, cl.Check(t.Context(), name))
		lead(t, cl, name)
	}
	keys := map[string]string{} // and who keeps them
	for _, a := range addresses {
		r := redis.NewClient(&redis.Options{Addr: a})
		list, err := r.Keys(t.Context(), "*").Result()
		noErr(t, err)
		noErr(t, r.Close())
		for _, k := range list {
			keys[k] = a
		}
		if len(list) == 0 {
			t.Errorf("%s keeps nothing: the elections are not spread", a)
		}
	}
	if len(keys) != len(names) {
		t.Errorf("%d records of %d elections: %v", len(keys), len(names), keys)
	}
	for _, name := range []string{"plain", "{braced}"} {
		if err := election.Permanent(open(t, c).Check(t.Context(), name)); err {
			t.Errorf("%s is refused", name)
		}
	}
	_, err := fast(ModeSingle, addresses[0]).Open(t.Context())
	if !errors.Is(err, election.ErrWrongClient) || !strings.Contains(err.Error(), "use single.cluster.addresses") {
		t.Errorf("a plain client gives %v", err)
	}
	t.Run("D15", func(t *testing.T) { membersAreNoQuorum(t, addresses) })
	t.Run("looks", func(t *testing.T) { looksMoveNoSubscription(t, open(t, c), addresses) })
}

// looksMoveNoSubscription: any member of a Cluster answers INFO, and none of them is
// taken for another primary of the lease, or standbys would miss releases.
func looksMoveNoSubscription(t *testing.T, cl *Client, addresses []string) {
	st, err := cl.Store("watched")
	noErr(t, err)
	hints, err := st.Released(t.Context())
	noErr(t, err)
	<-hints // the subscription stands
	subscribed := func() (list []string) {
		for _, a := range addresses {
			r := redis.NewClient(&redis.Options{Addr: a})
			text, err := r.Info(t.Context(), "commandstats").Result()
			noErr(t, errors.Join(err, r.Close()))
			calls, _, _ := strings.Cut(parseInfo(text)["cmdstat_subscribe"], ",")
			list = append(list, calls)
		}
		return list
	}
	before := subscribed()
	answered := map[string]bool{}
	for range 12 {
		state, err := st.Inspect(t.Context())
		noErr(t, err)
		answered[state.Masters[0].RunID] = true
		await(t, 10*time.Second, "the subscription stands", func() bool {
			r := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses})
			defer func() { _ = r.Close() }() // it only asks
			sum := int64(0)
			err := r.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
				n, err := node.PubSubNumSub(ctx, "incumbent:{watched}:released").Result()
				atomic.AddInt64(&sum, n["incumbent:{watched}:released"])
				return err
			})
			return err == nil && sum == 1
		})
	}
	if len(answered) < 2 {
		t.Errorf("INFO was answered by %v alone", answered)
	}
	if now := subscribed(); !slices.Equal(now, before) {
		t.Errorf("subscriptions: %v became %v", before, now)
	}
}

// membersAreNoQuorum, nor is one of them with two others: each is named.
func membersAreNoQuorum(t *testing.T, addresses []string) {
	cl, err := fast(ModeQuorum, addresses...).Open(t.Context())
	if err == nil {
		noErr(t, cl.Close())
		t.Fatal("three members of a Cluster are a quorum")
	}
	if !errors.Is(err, election.ErrWrongClient) || !election.Permanent(err) {
		t.Errorf("got %v", err)
	}
	var want []string
	for _, a := range addresses {
		want = append(want, "error "+a+" wrong-client")
		if !strings.Contains(err.Error(), "master "+a+": check: ") {
			t.Errorf("%s is not named in %v", a, err)
		}
	}
	wantFound(t, notWarnings(preflight(t, quiet(ModeQuorum, addresses...), "job")), want...)
}

// D15: a primary and its two replicas are no quorum, which names the replicas; the
// primary alone is good for single, the replica is not until it is promoted (D05).
func TestD15_PrimaryAndReplicas(t *testing.T) {
	t.Parallel()
	primary := redistest.StartT(t, redisproc.Options{})
	host, port, _ := strings.Cut(primary.Addr(), ":")
	replica := func() string {
		return redistest.StartT(t, redisproc.Options{Args: []string{"replicaof", host + " " + port}}).Addr()
	}
	r1, r2 := replica(), replica()
	_, err := fast(ModeQuorum, r1, primary.Addr(), r2).Open(t.Context())
	if !errors.Is(err, election.ErrReadOnly) || !strings.Contains(err.Error(), "master "+r1+": ") || !strings.Contains(err.Error(), "master "+r2+": ") ||
		strings.Contains(err.Error(), "master "+primary.Addr()) {
		t.Errorf("got %v", err)
	}
	lead(t, open(t, fast(ModeSingle, primary.Addr())), "job")

	out := &logs{}
	c := fast(ModeSingle, r1)
	c.Logger, c.GuardsOff = logTo(out), election.AllGuards
	cl := open(t, c) // a failover may be under way
	e, err := cl.Elector("job")
	noErr(t, err)
	won := make(chan error, 1)
	go func() {
		_, err := e.Campaign(t.Context())
		won <- err
	}()
	const says = "read-only replica"
	await(t, 10*time.Second, "the candidate says "+says, func() bool {
		return strings.Count(out.String(), "master "+r1) >= 2 && strings.Contains(out.String(), says)
	})
	if strings.Contains(out.String(), "held by") {
		t.Errorf("logged %s", out)
	}
	r := redis.NewClient(&redis.Options{Addr: r1})
	noErr(t, r.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	noErr(t, r.Close())
	noErr(t, <-won)
}

// A server without HELLO, as Redis 5 is, with and without a password; one with a
// database number that it does not have.
func TestD18_OlderServers(t *testing.T) {
	t.Parallel()
	noHello := []string{"rename-command", `HELLO ""`}
	lead(t, open(t, fast(ModeSingle, redistest.StartT(t, redisproc.Options{Args: noHello}).Addr())), "job")
	locked := redistest.StartT(t, redisproc.Options{Args: noHello, Password: hunter}).Addr()
	c := fast(ModeSingle, locked)
	wantFound(t, notWarnings(preflight(t, c, "job")), "error "+locked+" auth")
	c.Password = hunter
	lead(t, open(t, c), "job")
	c.DB = 99
	found := notWarnings(preflight(t, c, "job"))
	wantFound(t, found, "error "+locked+" wrong-client")
	if len(found) == 1 && (!found[0].Permanent || !strings.Contains(found[0].String(), "database number")) {
		t.Errorf("found %s", fmt.Sprint(found[0]))
	}
}
