package fence_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/fence"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

func proxyTo(t *testing.T, addr string) *blackhole.Proxy {
	t.Helper()
	p, err := blackhole.New(addr)
	check(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func startCluster(t *testing.T) *redisproc.Server {
	t.Helper()
	s := redistest.StartT(t, redisproc.Options{Cluster: true})
	c := connect(t, s.Addr())
	for {
		info, err := c.ClusterInfo(t.Context()).Result()
		check(t, err)
		if strings.Contains(info, "cluster_state:ok") {
			return s
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the cluster is not usable")
		}
	}
}

// clusterThrough makes a Cluster client that reaches its only server by addr.
func clusterThrough(t *testing.T, addr string) *redis.ClusterClient {
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{addr},
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: addr}}}}, nil
		},
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A lost reply: the act happened once, nothing is sent a second time, and the
// error says that the outcome is unknown. The clients have default options, with
// which go-redis repeats other commands.
func TestRedisLostReply(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	cluster := startCluster(t)
	toServer, toCluster := proxyTo(t, s.Addr()), proxyTo(t, cluster.Addr())
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": toServer.Addr()}})
	t.Cleanup(func() { _ = ring.Close() })
	for name, tt := range map[string]struct {
		client redis.UniversalClient
		proxy  *blackhole.Proxy
		admin  *redis.Client
	}{
		"server":  {connect(t, toServer.Addr()), toServer, connect(t, s.Addr())},
		"ring":    {ring, toServer, connect(t, s.Addr())},
		"cluster": {clusterThrough(t, toCluster.Addr()), toCluster, connect(t, cluster.Addr())},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRedis(t, tt.client)
			incr := fence.NewScript(`return redis.call('INCR', KEYS[1])`)
			count := "{jobs}:" + name
			_, err := g.Do(t.Context(), 5, incr, []string{count})
			check(t, err)
			lost := tt.proxy.DropReplyTo(func(b []byte) bool { return bytes.Contains(b, []byte("evalsha")) })
			_, err = g.Do(t.Context(), 5, incr, []string{count})
			e := wantRedis(t, err, fence.ErrOutcomeUnknown)
			if e.Remedy == "" {
				t.Errorf("no remedy: %v", err)
			}
			<-lost
			if n := tt.admin.Get(t.Context(), count).Val(); n != "2" {
				t.Errorf("two calls counted to %s", n)
			}
			n, err := g.Do(t.Context(), 5, incr, []string{count})
			if err != nil || n != int64(3) {
				t.Errorf("afterwards: %v, %v", n, err)
			}
		})
	}
}

func TestRedisEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	p := proxyTo(t, s.Addr())
	g := newRedis(t, connect(t, p.Addr(), func(o *redis.Options) { o.ContextTimeoutEnabled, o.ReadTimeout = true, time.Hour }))
	check(t, g.Raise(t.Context(), 5))
	p.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantRedis(t, g.Raise(ctx, 6), fence.ErrOutcomeUnknown)
}

func TestRedisCluster(t *testing.T) {
	t.Parallel()
	s := startCluster(t)
	ctx, plain := t.Context(), connect(t, s.Addr())
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.Addr()}})
	t.Cleanup(func() { _ = c.Close() })

	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, 1+random.IntN(12))
		for i := range b {
			b[i] = "{}ab\x00\xff%"[random.IntN(7)]
		}
		if want := plain.ClusterKeySlot(ctx, string(b)).Val(); int64(fence.Slot(string(b))) != want {
			t.Fatalf("slot(%q) = %d, the server says %d", b, fence.Slot(string(b)), want)
		}
	}

	g := newRedis(t, c)
	check(t, g.Raise(ctx, 6))
	check(t, g.Set(ctx, 6, "{jobs}:value", "x", 0))
	wantFenced(t, g.Set(ctx, 5, "{jobs}:value", "y", 0), 5, 6)
	wantRedis(t, g.Set(ctx, 6, "value", "x", 0), election.ErrCrossSlot)
	if known, err := g.Known(ctx); err != nil || known != 6 {
		t.Errorf("Known = %d, %v", known, err)
	}
	// A client that does not look at slots leaves that to the server.
	if e := wantRedis(t, newRedis(t, plain).Set(ctx, 6, "value", "x", 0), election.ErrCrossSlot); e.Remedy == "" {
		t.Errorf("no remedy: %v", e)
	}
}

// What a simulated server does not know.
func TestRedisRealScripts(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	ctx, c := t.Context(), connect(t, s.Addr())
	g := newRedis(t, c)
	for _, tt := range []struct{ source, want string }{
		{"return (", "ERR Error compiling script"},
		{"return 1 end", "ERR Error compiling script"},
		{"--[[ never closed", "ERR Error compiling script"},
		{"\n\nerror('boom')", "user_script:3: boom"},
		{"#!lua\n\nerror('boom')", "user_script:3: boom"},
	} {
		_, err := g.Do(ctx, 5, fence.NewScript(tt.source), []string{"k"})
		if wantRedis(t, err, fence.ErrScript); !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.source, err, tt.want)
		}
	}
	_, err := g.Do(ctx, 5, fence.NewScript("#!lua flags=bogus\nreturn 1"), nil)
	wantRedis(t, err, election.ErrRejected)

	// Flags hold for the act: under memory pressure one with allow-oom runs.
	write := "return redis.call('DEL', KEYS[1])"
	check(t, c.ConfigSet(ctx, "maxmemory", "1").Err())
	_, err = g.Do(ctx, 5, fence.NewScript("#!lua flags=allow-oom\n"+write), []string{"k"})
	check(t, err)
	_, err = g.Do(ctx, 5, fence.NewScript("#!lua\n"+write), []string{"k"})
	wantRedis(t, err, election.ErrRejected)
	_, err = g.Do(ctx, 5, fence.NewScript("return redis.call('SET', KEYS[1], 1)"), []string{"k"})
	wantRedis(t, err, fence.ErrScript)
	wantRedis(t, g.Raise(ctx, 6), election.ErrRejected)
	check(t, c.ConfigSet(ctx, "maxmemory", "0").Err())
	if known, err := g.Known(ctx); err != nil || known != 5 {
		t.Errorf("Known = %d, %v: a Raise that was rejected changed it", known, err)
	}
}

// A user that may not do what the guard needs gets an error, not a fence; one
// with the commands that the documentation lists is served.
func TestRedisPermissions(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	ctx, admin := t.Context(), connect(t, s.Addr())
	as := func(user string) *fence.Redis {
		return newRedis(t, connect(t, s.Addr(), func(o *redis.Options) { o.Username, o.Password = user, user }))
	}
	for _, tt := range []struct {
		user  string
		rules []any
		kind  error
	}{
		{"none", []any{"~*", "+get", "+set"}, election.ErrRejected},
		{"half", []any{"~*", "+evalsha", "+eval", "+get"}, election.ErrRejected},
		{"nokey", []any{"~{jobs}:value", "+evalsha", "+eval", "+get", "+set"}, election.ErrRejected},
		{"minimum", []any{"~{jobs}:*", "+evalsha", "+eval", "+get", "+set"}, nil},
		// The token is known by now: the guard has nothing to write, the act has.
		{"late", []any{"~*", "+evalsha", "+eval", "+get"}, fence.ErrScript},
	} {
		check(t, admin.Do(ctx, append([]any{"ACL", "SETUSER", tt.user, "reset", "on", ">" + tt.user}, tt.rules...)...).Err())
		err := as(tt.user).Set(ctx, 5, "{jobs}:value", tt.user, 0)
		if tt.kind == nil {
			check(t, err)
		} else {
			wantRedis(t, err, tt.kind)
		}
		if wrote := admin.Get(ctx, "{jobs}:value").Val() == tt.user; wrote != (tt.kind == nil) {
			t.Errorf("%s wrote: %t", tt.user, wrote)
		}
	}
}

// The guard is no safer than the rest of the server: once that is wiped, a stale
// act passes until the leader acts or raises again.
func TestRedisWipedWithItsServer(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	ctx, c := t.Context(), connect(t, s.Addr())
	g := newRedis(t, c)
	check(t, g.Raise(ctx, 6))
	check(t, c.FlushAll(ctx).Err())
	check(t, g.Set(ctx, 5, "k", "stale", 0))
	check(t, g.Set(ctx, 6, "k", "leader", 0))
	wantFenced(t, g.Set(ctx, 5, "k", "stale", 0), 5, 6)
}
