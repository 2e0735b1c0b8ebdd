package simnet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

// replica runs f with a master, a second one, and a client of the first.
func replica(t *testing.T, f func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client)) {
	t.Helper()
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		f(t, w, m, w.AddMaster("r"), c)
	})
}

func TestCopyFrom(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		must(t, c.Set(ctx, "s", "v", 500*time.Millisecond))
		must(t, c.HSet(ctx, "h", "f", "1", "g", "2"))
		must(t, c.Expire(ctx, "h", time.Hour))
		must(t, c.RPush(ctx, "l", "x", "y"))
		must(t, c.SAdd(ctx, "set", "x", "y"))
		must(t, c.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "x"}, redis.Z{Score: -1, Member: "y"}))
		if _, err := r.Do("SET", "old", "v"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		r.CopyFrom(m)
		must(t, c.Set(ctx, "later", "v", 0))

		if got := r.Keys(); !slices.Equal(got, []string{"h", "l", "s", "set", "z"}) {
			t.Errorf("keys are %v", got)
		}
		for _, read := range [][]string{{"GET", "s"}, {"HGETALL", "h"}, {"LRANGE", "l", "0", "-1"}, {"SMEMBERS", "set"}, {"ZRANGE", "z", "0", "-1", "WITHSCORES"}} {
			want, err := m.Do(read...)
			got, err2 := r.Do(read...)
			if fmt.Sprint(got) != fmt.Sprint(want) || err != nil || err2 != nil {
				t.Errorf("%v is %v, want %v (%v, %v)", read, got, want, err2, err)
			}
		}
		for _, key := range []string{"s", "h", "l"} {
			if got, want := r.PTTL(key), m.PTTL(key); got != want {
				t.Errorf("%s has %v left, want %v", key, got, want)
			}
		}
		time.Sleep(r.PTTL("s") - time.Microsecond)
		holds(t, r, "s", "v")
		time.Sleep(time.Microsecond)
		holds(t, r, "s", "")
		r.CopyFrom(r)
		if n := len(r.Keys()); n != 4 {
			t.Errorf("after a copy of itself it has %d keys", n)
		}
	})
}

// TestCopyFromKeepsTheInstant: whose clock is ahead sees keys expire sooner.
func TestCopyFromKeepsTheInstant(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		must(t, c.Set(ctx, "short", "v", time.Second))
		must(t, c.Set(ctx, "long", "v", time.Minute))
		left := m.PTTL("long")
		for _, tt := range []struct {
			offset time.Duration
			short  string
			long   time.Duration
		}{{0, "v", left}, {10 * time.Second, "", left - 10*time.Second}, {-5 * time.Second, "v", left + 5*time.Second}, {time.Second, "", left - time.Second}} {
			r.SetClockOffset(tt.offset)
			r.CopyFrom(m)
			holds(t, r, "short", tt.short)
			if got := r.PTTL("long"); got != tt.long {
				t.Errorf("%v ahead: %v left, want %v", tt.offset, got, tt.long)
			}
		}
	})
}

func TestCopyFromOfAStreamPanics(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		must(t, c.XAdd(ctx, &redis.XAddArgs{Stream: "x", Values: []string{"a", "b"}}))
		defer func() {
			if v := recover(); !strings.Contains(fmt.Sprint(v), `key "x" is a stream`) {
				t.Errorf("panicked with %v", v)
			}
		}()
		r.CopyFrom(m)
	})
}

func TestRedirect(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		other := w.Client("b", m, fast)
		must(t, other.Ping(ctx))
		w.Redirect("a", m, r)
		time.Sleep(time.Millisecond) // the reset travels
		if n := m.Connections("a"); n != 0 {
			t.Errorf("%d connections are left", n)
		}
		must(t, c.Set(ctx, "k", "to r", 0))
		must(t, other.Set(ctx, "k", "to m", 0))
		holds(t, r, "k", "to r")
		holds(t, m, "k", "to m")
		if n := r.Connections("a"); n != 1 {
			t.Errorf("%d connections with the replica", n)
		}
		w.Redirect("a", m, r) // changes nothing
		must(t, c.Set(ctx, "k", "again", 0))
		holds(t, r, "k", "again")

		w.Redirect("a", m, m)
		time.Sleep(time.Millisecond)
		must(t, c.Set(ctx, "k", "back", 0))
		holds(t, m, "k", "back")
		if r.Connections("a") != 0 {
			t.Error("a connection with the replica is left")
		}
	})
}

// TestRedirectLeavesOtherConnections: whoever knows the replica's own address keeps
// what it has there.
func TestRedirectLeavesOtherConnections(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		direct, err := w.Dialer("a")(ctx, "tcp", r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		w.Redirect("a", m, r)
		time.Sleep(time.Millisecond)
		must(t, c.Ping(ctx))
		w.Redirect("a", m, m)
		time.Sleep(time.Millisecond)
		if n := r.Connections("a"); n != 1 {
			t.Errorf("%d connections with the replica", n)
		}
		if got := direct.RemoteAddr().String(); got != r.Addr() {
			t.Errorf("remote address is %s", got)
		}
	})
}

// TestRedirectCatchesDials: one that is under way does not reach the old master.
func TestRedirectCatchesDials(t *testing.T) {
	for _, after := range []time.Duration{50 * time.Microsecond, 350 * time.Microsecond} {
		replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
			w.SetLatency("a", m, simnet.Latency{Min: 200 * time.Microsecond, Max: 201 * time.Microsecond})
			go func() {
				time.Sleep(after)
				w.Redirect("a", m, r)
			}()
			conn, err := w.Dialer("a")(ctx, "tcp", m.Addr())
			if err == nil {
				if got := conn.RemoteAddr().String(); got != m.Addr() {
					t.Errorf("remote address is %s", got)
				}
				_, err = conn.Read(make([]byte, 1))
			}
			if err == nil || !strings.Contains(err.Error(), m.Addr()) {
				t.Errorf("after %v: the error is %v, want a reset or refusal by %s", after, err, m.Addr())
			}
			if n := m.Connections("a"); n != 0 {
				t.Errorf("after %v: %d connections", after, n)
			}
		})
	}
}

// TestRedirectBehindACut: what was sent into a cut link does not arrive at the old
// master when it is healed.
func TestRedirectBehindACut(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		w.Cut("a", m)
		timesOut(t, func() redis.Cmder { return c.Set(ctx, "k", "late", 0) })
		w.Redirect("a", m, r)
		must(t, c.Set(ctx, "k", "v", 0)) // that link is whole
		w.Heal("a", m)
		time.Sleep(time.Second)
		holds(t, m, "k", "")
		holds(t, r, "k", "v")
	})
}

func TestRedirectMovesSubscriptions(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		sub := c.Subscribe(ctx, "ch")
		defer sub.Close()
		got := sub.Channel()
		time.Sleep(time.Millisecond)
		w.Redirect("a", m, r)
		time.Sleep(time.Second)
		if n, err := r.Do("PUBLISH", "ch", "hello"); n != 1 || err != nil {
			t.Fatalf("%v subscribers, %v", n, err)
		}
		if msg := <-got; msg.Payload != "hello" {
			t.Errorf("received %v", msg)
		}
		if n, _ := m.Do("PUBLISH", "ch", "hello"); n != 0 {
			t.Errorf("%v subscribers are left", n)
		}
	})
}

func TestUptime(t *testing.T) {
	world(t, 1, simnet.Options{Uptime: 24 * time.Hour}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		c := w.Client("a", m, nil)
		uptime := func(want string) {
			t.Helper()
			if info := c.Info(ctx, "server").Val(); !strings.Contains(info, "uptime_in_seconds:"+want+"\r\n") {
				t.Errorf("uptime is not %s: %s", want, info)
			}
		}
		uptime("86400")
		time.Sleep(2 * time.Second)
		uptime("86402")
		m.Restart(false)
		time.Sleep(3 * time.Second)
		uptime("3")
	})
}

// TestReplID: a copy and a restart begin a new line, only a restart a new process,
// and a copy remembers the line that it is of.
func TestReplID(t *testing.T) {
	replica(t, func(t *testing.T, w *simnet.World, m, r *simnet.Master, c *redis.Client) {
		of := func(m *simnet.Master, name string) string {
			t.Helper()
			_, rest, _ := strings.Cut(w.Client("b", m, nil).Info(ctx, "server", "replication").Val(), name+":")
			id, _, _ := strings.Cut(rest, "\r\n")
			if len(id) != 40 {
				t.Errorf("%s is %q", name, id)
			}
			return id
		}
		none := strings.Repeat("0", 40)
		run, line := of(m, "run_id"), of(m, "master_replid")
		if run == line || of(m, "master_replid2") != none {
			t.Error("a new server has two lines, or one that is its process")
		}
		m.CopyFrom(r)
		copied := of(m, "master_replid")
		if copied == line || of(m, "run_id") != run || of(m, "master_replid2") != of(r, "master_replid") {
			t.Error("a copy begins no new line, or a new process, or has another past")
		}
		m.Restart(false)
		if now := of(m, "master_replid"); now == line || now == copied || of(m, "run_id") == run || of(m, "master_replid2") != none {
			t.Error("a restart begins no new line, or no new process, or remembers one")
		}
	})
}

func TestSetAcks(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		for _, acks := range []int64{0, 2, 1} {
			m.SetAcks(int(acks))
			start := time.Now()
			if n, err := c.Do(ctx, "WAIT", 3, 100).Int64(); n != acks || err != nil {
				t.Errorf("WAIT says %d, %v, want %d", n, err, acks)
			}
			if time.Since(start) > time.Millisecond {
				t.Error("it waited")
			}
			if info := c.Info(ctx, "replication").Val(); !strings.Contains(info, fmt.Sprintf("connected_slaves:%d\r\n", acks)) {
				t.Errorf("INFO says %s", info)
			}
		}
		for _, wrong := range [][]any{{"WAIT"}, {"WAIT", 1}, {"WAIT", "x", 1}, {"WAIT", 1, -1}} {
			fails(t, c.Do(ctx, wrong...))
		}
		_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Do(ctx, "WAIT", 1, 1)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "EXECABORT") {
			t.Errorf("WAIT inside MULTI: %v", err)
		}
	})
}
