package single_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/single"
)

func bid(id string, ttl time.Duration) election.Bid {
	return election.Bid{Value: fmt.Sprintf("%s-%d", id, time.Now().UnixNano()), TTL: ttl, Candidate: election.Candidate{ID: id, Instance: id}}
}

func lead(t *testing.T, e election.Elector) *election.Term {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	term, err := e.Campaign(ctx)
	if err != nil {
		t.Fatalf("campaign: %v", err)
	}
	return term
}

// typed fails the test unless err is of that kind and names master and remedy.
func typed(t *testing.T, err, kind error, remedy bool) {
	t.Helper()
	var m *election.MasterError
	var held *election.HeldError
	if !errors.As(err, &m) || !errors.Is(err, kind) || errors.As(err, &held) || errors.Is(err, election.ErrTaken) || errors.Is(err, election.ErrExpired) {
		t.Fatalf("want %q: %v", kind, err)
	}
	if m.Master == "" || (m.Remedy != "") != remedy || !strings.Contains(err.Error(), m.Master) {
		t.Errorf("master %q, remedy %q: %v", m.Master, m.Remedy, err)
	}
}

// Behind a proxy that swallows the first reply and closes the connection, with a
// client of default options: no candidate loses to itself.
func TestA12_LostReplyOnAServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	p, err := blackhole.New(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	for _, script := range []string{"evalsha", "eval"} {
		s.do(t, "FLUSHALL")
		dropped := p.DropReplyTo(func(b []byte) bool { return bytes.Contains(bytes.ToLower(b), []byte("\r\n"+script+"\r\n")) })
		c := client(t, p.Addr(), func(o *redis.Options) { *o = redis.Options{Addr: o.Addr} })
		e := elector(t, newStore(t, c), "a", func(o *election.Options) { o.TTL = 30 * time.Second })
		start := time.Now()
		term := lead(t, e)
		if took := time.Since(start); took > 5*time.Second || !term.Valid() {
			t.Errorf("leads after %s, valid %t", took, term.Valid())
		}
		<-dropped
		if err := term.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		s.do(t, "SCRIPT", "FLUSH")
	}
}

// MONITOR shows one script for an acquire, and nothing outside of it.
func TestA14_OneScript(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	st := s.store(t)
	cycle := func() {
		g, err := st.Acquire(t.Context(), bid("a", time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	cycle() // loads the scripts
	s.do(t, "PING")
	lines := monitor(t, s)
	cycle()
	s.do(t, "ECHO", "the-end")
	var outer, inner []string
	for l := range lines {
		if strings.Contains(l, "the-end") {
			break
		}
		_, command, _ := strings.Cut(l, "] ")
		name := strings.ToLower(strings.Trim(strings.Fields(command)[0], `"`))
		if strings.Contains(l, " lua] ") {
			inner = append(inner, name)
		} else {
			outer = append(outer, name)
		}
	}
	if got := strings.Join(outer, " "); got != "evalsha evalsha evalsha" {
		t.Errorf("acquire, renew and release send %q", got)
	}
	if !strings.Contains(strings.Join(inner, " "), "set hset pexpire") {
		t.Errorf("the scripts run %q", inner)
	}
}

// monitor sends MONITOR and returns the lines that it prints.
func monitor(t *testing.T, s *server) <-chan string {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 5)
	if _, err := conn.Read(ready); err != nil || string(ready) != "+OK\r\n" {
		t.Fatalf("monitor: %q, %v", ready, err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		var b bytes.Buffer
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			b.Write(buf[:n])
			for bytes.Contains(b.Bytes(), []byte("\r\n")) {
				l, _ := b.ReadString('\n')
				lines <- strings.TrimSpace(l)
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// The primary becomes a replica in mid-term: the leader ends by its deadline, the
// reason is a read-only replica; a candidate says the same, and wins once the
// server is a primary again.
func TestD05_DemotedPrimary(t *testing.T) {
	t.Parallel()
	s, other := startServer(t, redisproc.Options{}), startServer(t, redisproc.Options{})
	e := elector(t, s.store(t), "a")
	term := lead(t, e)
	host, port, _ := net.SplitHostPort(other.Addr())
	s.do(t, "REPLICAOF", host, port)
	<-term.Context().Done()
	if err := context.Cause(term.Context()); !errors.Is(err, election.ErrReadOnly) && !errors.Is(err, election.ErrExpired) {
		t.Errorf("cause %v", err)
	}
	_, err := s.store(t).Acquire(t.Context(), bid("b", time.Second)) // though the lease is still there
	typed(t, err, election.ErrReadOnly, true)
	s.do(t, "REPLICAOF", "NO", "ONE")
	if next := lead(t, e); next.Token() <= term.Token() {
		t.Errorf("token %d after %d", next.Token(), term.Token())
	}
}

// A replica that lags is promoted: a second leader gets in, the first learns of
// it at its next renewal, and the window is no longer than that.
func TestC09_PromotedReplicaWithoutTheLease(t *testing.T) {
	t.Parallel()
	primary, replica := startServer(t, redisproc.Options{}), startServer(t, redisproc.Options{})
	p, err := blackhole.New(primary.Addr()) // what the replica follows
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	// The leader's client asks where the primary is when it connects, as one does
	// that asks Sentinel.
	var current atomic.Value
	current.Store(primary.Addr())
	c := client(t, "primary:0", func(o *redis.Options) {
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, current.Load().(string))
		}
	})
	old := elector(t, newStore(t, c), "old", func(o *election.Options) { o.TTL = 3 * time.Second })
	// The replica's link is cut before the lease is written.
	host, port, _ := net.SplitHostPort(p.Addr())
	replica.do(t, "REPLICAOF", host, port)
	await(t, 10*time.Second, "the replica is in step", func() bool {
		info, _ := replica.do(t, "INFO", "replication").(string)
		return strings.Contains(info, "master_link_status:up")
	})
	p.Cut()
	term := lead(t, old)
	replica.do(t, "REPLICAOF", "NO", "ONE")
	rival := elector(t, newStore(t, client(t, replica.Addr())), "new")
	second := lead(t, rival)
	began := time.Now()
	if second.Token() <= term.Token() {
		t.Errorf("the second leader's token %d is not above %d: a fence would not help", second.Token(), term.Token())
	}
	current.Store(replica.Addr())
	primary.do(t, "CLIENT", "KILL", "TYPE", "normal")
	<-term.Context().Done()
	await(t, 5*time.Second, "the end of the old term", func() bool { return !term.Valid() })
	const renewal = time.Second
	t.Logf("two leaders for %s, a renewal interval is %s", time.Since(began).Round(time.Millisecond), renewal)
	if d := time.Since(began); d > renewal+500*time.Millisecond {
		t.Errorf("two leaders for %s", d)
	}
	if err := context.Cause(term.Context()); !errors.Is(err, election.ErrTaken) {
		t.Errorf("cause %v", err)
	}
	if !second.Valid() {
		t.Error("the new leader lost its term")
	}
}

// A primary that was a replica meanwhile counts as another server, though its
// process is the same; one that only got a replica does not (R4).
func TestR4_DemotedAndPromotedAgain(t *testing.T) {
	t.Parallel()
	primary, replica := startServer(t, redisproc.Options{}), startServer(t, redisproc.Options{})
	follow := func(s, master *server) {
		t.Helper()
		host, port, _ := net.SplitHostPort(master.Addr())
		s.do(t, "REPLICAOF", host, port)
		await(t, 10*time.Second, "the replica is in step", func() bool {
			info, _ := s.do(t, "INFO", "replication").(string)
			return strings.Contains(info, "master_link_status:up")
		})
	}
	st, err := single.New(client(t, primary.Addr()), "job", single.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow(replica, primary)
	first := bid("a", 30*time.Second)
	g, err := st.Acquire(t.Context(), first)
	if err != nil {
		t.Fatalf("after the first replica has come: %v", err)
	}
	if _, err := st.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	replica.do(t, "REPLICAOF", "NO", "ONE") // it misses the lease that follows
	if _, err := st.Acquire(t.Context(), bid("a", 30*time.Second)); err != nil {
		t.Fatalf("the same server: %v", err)
	}
	follow(primary, replica)
	primary.do(t, "REPLICAOF", "NO", "ONE")
	_, err = st.Acquire(t.Context(), bid("b", 30*time.Second))
	var waits *election.GuardError
	if !errors.As(err, &waits) || !waits.Guards.Has(election.FailoverGuard) {
		t.Errorf("a server that was a replica meanwhile: %v", err)
	}
}

// Memory is full and everything may be evicted: the loss is noticed within a
// renewal, as expired; where nothing may be evicted, bids are refused with a
// reason of their own while a leader keeps its lease.
func TestD08_MemoryIsFull(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{Args: []string{"maxmemory-policy", "noeviction"}})
	e := elector(t, s.store(t), "a")
	term := lead(t, e)
	s.do(t, "CONFIG", "SET", "maxmemory", "1mb")
	pass(2 * time.Second)
	if !term.Valid() {
		t.Errorf("a leader on a full server: %v", term.Loss())
	}
	if err := term.Resign(t.Context()); err != nil {
		t.Errorf("resign on a full server: %v", err)
	}
	_, err := s.store(t).Acquire(t.Context(), bid("b", time.Second))
	typed(t, err, election.ErrOutOfMemory, true)
	s.do(t, "CONFIG", "SET", "maxmemory", "0")
	term = lead(t, e)
	s.do(t, "DEL", leaseKey, recordKey) // what allkeys-lru does
	<-term.Context().Done()
	if err := context.Cause(term.Context()); !errors.Is(err, election.ErrExpired) {
		t.Errorf("cause %v", err)
	}
}

// Writes are refused in mid-term for lack of replicas.
func TestD09_NoReplicas(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	e := elector(t, s.store(t), "a")
	term := lead(t, e)
	s.do(t, "CONFIG", "SET", "min-replicas-to-write", "1")
	<-term.Context().Done()
	if err := context.Cause(term.Context()); !errors.Is(err, election.ErrRefused) || !errors.Is(err, election.ErrNoReplicas) {
		t.Errorf("cause %v", err)
	}
	if err := term.Resign(t.Context()); !errors.Is(err, election.ErrNoReplicas) {
		t.Errorf("resign: %v", err)
	}
	await(t, 5*time.Second, "the end of the lease", func() bool { return s.do(t, "GET", leaseKey) == nil })
	_, err := s.store(t).Acquire(t.Context(), bid("b", time.Second))
	typed(t, err, election.ErrNoReplicas, true)
	s.do(t, "CONFIG", "SET", "min-replicas-to-write", "0")
	lead(t, e)
}

// The scripts are forgotten between all renewals, then the server restarts with
// its data: no transition.
func TestD10_ForgottenScriptsOnAServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{Persistence: redisproc.AOF})
	e := elector(t, s.store(t), "a")
	term := lead(t, e)
	for range 4 {
		pass(400 * time.Millisecond)
		s.do(t, "SCRIPT", "FLUSH")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	pass(1500 * time.Millisecond)
	if !term.Valid() {
		t.Errorf("lost: %v", term.Loss())
	}
}

// Scripts are disabled by renaming EVAL, or by an ACL: one clear error, and
// nothing is acquired.
func TestD12_ScriptsDisabled(t *testing.T) {
	t.Parallel()
	renamed := startServer(t, redisproc.Options{Args: []string{"rename-command", `EVAL ""`}})
	both := startServer(t, redisproc.Options{Args: []string{"rename-command", `EVALSHA ""`}})
	acl := startServer(t, redisproc.Options{})
	acl.do(t, "ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-eval", "-evalsha")
	as := func(o *redis.Options) { o.Username, o.Password = "app", "pw" }
	for name, st := range map[string]*single.Store{"EVAL": renamed.store(t), "EVALSHA": both.store(t), "ACL": acl.store(t, as)} {
		e := elector(t, st, "a")
		_, err := e.Campaign(t.Context())
		typed(t, err, election.ErrScriptsDisabled, true)
		if !election.Permanent(err) {
			t.Errorf("%s: not permanent: %v", name, err)
		}
		if err := st.Check(t.Context()); !errors.Is(err, election.ErrScriptsDisabled) {
			t.Errorf("%s: check: %v", name, err)
		}
	}
	for _, s := range []*server{renamed, both, acl} {
		if n := s.do(t, "DBSIZE"); n != int64(0) {
			t.Errorf("%v keys were written", n)
		}
	}
}

// A server of a cluster, by a Cluster client: names with and without braces work.
// By a plain client it works where the server owns the slot. A database number is
// refused.
func TestD13_Cluster(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{Cluster: true})
	await(t, 20*time.Second, "the cluster is usable", func() bool {
		info, _ := s.do(t, "CLUSTER", "INFO").(string)
		return strings.Contains(info, "cluster_state:ok")
	})
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.Addr()}})
	t.Cleanup(func() { _ = c.Close() })
	for _, name := range []string{"plain", "{braced}", "a{b}c", "}{", "{}"} {
		st, err := single.New(c, name, single.Options{Logger: quiet, GuardsOff: election.AllGuards})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range []election.Elector{elector(t, st, "a"), elector(t, st, "b")} {
			term := lead(t, e)
			if err := term.Resign(t.Context()); err != nil {
				t.Errorf("%s, candidate %d: %v", name, i, err)
			}
		}
	}
	_, err := s.store(t, func(o *redis.Options) { o.DB = 1 }).Acquire(t.Context(), bid("a", time.Second))
	typed(t, err, election.ErrWrongClient, true)
	s.do(t, "CLUSTER", "DELSLOTSRANGE", "0", "16383")
	_, err = s.store(t).Acquire(t.Context(), bid("a", time.Second))
	typed(t, err, election.ErrClusterDown, false)
}

// Rights are missing, in front of and inside of the scripts. An election needs
// no more than what the first user here has; without the channel only the wake-up
// is lost.
func TestD_Permissions(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	const need = "on >pw resetkeys ~incumbent:* resetchannels &incumbent:* -@all +evalsha +eval +get +set +del +hmget +hset +pexpire +pttl +time +publish +subscribe +ping +hello +client +info"
	user := func(name, rules string) *single.Store {
		args := []any{"ACL", "SETUSER", name}
		for _, r := range strings.Fields(rules) {
			args = append(args, r)
		}
		s.do(t, args...)
		return s.store(t, func(o *redis.Options) { o.Username, o.Password = name, "pw" })
	}
	for _, ok := range []string{need, strings.Replace(need, "&incumbent:*", "", 1), strings.Replace(need, "+info", "", 1)} {
		s.do(t, "FLUSHALL")
		st := user("ok", ok)
		a, b := elector(t, st, "a"), elector(t, user("ok2", ok), "b")
		term := lead(t, a)
		if err := term.Resign(t.Context()); err != nil {
			t.Errorf("%s: resign: %v", ok, err)
		}
		if err := lead(t, b).Resign(t.Context()); err != nil {
			t.Errorf("%s: resign: %v", ok, err)
		}
	}
	for i, c := range []struct {
		rules string
		kind  error
	}{
		{strings.Replace(need, "+hset", "", 1), election.ErrNoPermission},
		{strings.Replace(need, "+set ", "", 1), election.ErrNoPermission},
		{strings.Replace(need, "+get", "", 1), election.ErrNoPermission},
		{strings.Replace(need, "+pexpire", "", 1), election.ErrNoPermission},
		{strings.Replace(need, "~incumbent:*", "~other:*", 1), election.ErrNoPermission},
		{strings.Replace(need, "+eval ", "", 1), election.ErrScriptsDisabled},
	} {
		s.do(t, "FLUSHALL")
		s.do(t, "SCRIPT", "FLUSH")
		st := user(fmt.Sprintf("bad%d", i), c.rules)
		for range 2 {
			_, err := st.Acquire(t.Context(), bid("a", time.Minute))
			typed(t, err, c.kind, true)
			if strings.Contains(err.Error(), "pw") {
				t.Errorf("the password is in %v", err)
			}
			settle(t, st)
		}
		if v := s.do(t, "GET", leaseKey); v != nil {
			t.Errorf("rules %q: a lease that nobody owns: %v", c.rules, v)
		}
	}
	_, err := s.store(t, func(o *redis.Options) { o.Username, o.Password = "ok", "secret-wrong" }).Acquire(t.Context(), bid("a", time.Second))
	typed(t, err, election.ErrAuth, true)
	if strings.Contains(err.Error(), "secret-wrong") {
		t.Errorf("the password is in %v", err)
	}
}

func settle(t *testing.T, st election.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := st.Settle(ctx); err != nil {
		t.Error(err)
	}
}

// Keys that hold something else, and a lease that never expires.
func TestD_ForeignKeysOnAServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	st := s.store(t)
	for _, c := range []struct {
		plant []any
		kind  error
	}{
		{[]any{"RPUSH", leaseKey, "x"}, election.ErrForeignKey},
		{[]any{"SET", recordKey, "x"}, election.ErrForeignKey},
		{[]any{"HSET", recordKey, "last", "nan"}, election.ErrForeignKey},
		{[]any{"SET", leaseKey, "x"}, election.ErrNoExpiry},
	} {
		s.do(t, "FLUSHALL")
		s.do(t, c.plant...)
		_, err := st.Acquire(t.Context(), bid("a", time.Second))
		typed(t, err, c.kind, true)
		settle(t, st)
		if n := s.do(t, "DBSIZE"); n != int64(1) {
			t.Errorf("%v: %v keys afterwards", c.plant, n)
		}
	}
}

// A server that cannot save its snapshot refuses writes.
func TestD09_Misconf(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{Persistence: redisproc.RDB})
	st := s.store(t)
	// A folder has the snapshot's name, so that saving fails.
	if err := os.Mkdir(filepath.Join(s.Dir(), "dump.rdb"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.do(t, "SET", "x", "y")
	s.do(t, "BGSAVE")
	await(t, 10*time.Second, "a failed save", func() bool {
		info, _ := s.do(t, "INFO", "persistence").(string)
		return strings.Contains(info, "rdb_last_bgsave_status:err")
	})
	_, err := st.Acquire(t.Context(), bid("a", time.Second))
	typed(t, err, election.ErrMisconfigured, true)
}
