package simnet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/internal/simnet"
)

// refusedScripts are run at masters that refuse writes, on keys that exist.
var refusedScripts = []string{
	`return redis.call('GET', 's')`, `return redis.call('HSET', 'h', 'a', 1)`, `return redis.call('SET', 's', 'w')`,
	`return redis.call('PEXPIRE', 's', 100000)`, `return redis.call('DEL', 'none')`, `return redis.call('PUBLISH', 'c', 'm')`,
	`redis.call('PEXPIRE', 's', 100000) redis.call('HSET', 'h', 'a', 2) return redis.call('HGET', 'h', 'a')`,
	`redis.call('GET', 's') return redis.call('HSET', 'h', 'a', 1)`, `return redis.pcall('SET', 's', 'w').err`,
	`redis.pcall('SET', 's', 'w') return redis.call('HSET', 'h', 'a', 1)`, `return redis.call('INCR', 'n')`,
	`redis.pcall('HSET', 's', 'f', 1) return redis.call('PERSIST', 's')`,
}

// refusing are the ways to make a real server refuse, and to end that.
var refusing = []struct {
	why      simnet.Refusal
	on, off  []any
	readOnly bool
}{
	{simnet.OutOfMemory, []any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}, false},
	{simnet.NoReplicas, []any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}, false},
	{simnet.ReadOnly, []any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}, true},
}

// TestRefuse compares what is refused with a real server.
func TestRefuse(t *testing.T) {
	redistest.Require(t)
	s := redistest.StartT(t, redisproc.Options{Args: []string{"maxmemory-policy", "noeviction"}})
	real := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2, DisableIdentity: true})
	defer func() { _ = real.Close() }()
	for _, r := range refusing {
		want := map[string]string{}
		noErr(t, real.FlushAll(ctx).Err(), fill(real), real.Do(ctx, r.on...).Err())
		for _, script := range refusedScripts {
			want[script] = outcome(real, "EVAL", script, 0)
		}
		noErr(t, real.Do(ctx, r.off...).Err())
		pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
			noErr(t, fill(c))
			m.Refuse(r.why)
			for _, script := range refusedScripts {
				if got := outcome(c, "EVAL", script, 0); got != want[script] {
					t.Errorf("%d: %s: %s, want %s", r.why, script, got, want[script])
				}
			}
			if slave := strings.Contains(c.Info(ctx, "replication").Val(), "role:slave"); slave != r.readOnly {
				t.Errorf("%d: it says that it is a replica: %v", r.why, slave)
			}
			if err := c.Set(ctx, "k", "v", 0).Err(); err == nil {
				t.Errorf("%d: SET of a client is let through", r.why)
			}
			m.Restart(false)
			time.Sleep(time.Millisecond)
			must(t, c.Set(ctx, "k", "v", 0))
		})
	}
}

func fill(c *redis.Client) error {
	if err := c.Set(ctx, "s", "v", 0).Err(); err != nil {
		return err
	}
	return c.HSet(ctx, "h", "a", 0).Err()
}

func noErr(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPause: what was sent is executed in the end, unless its client has given up.
func TestPause(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		must(t, c.Set(ctx, "short", "v", time.Second))
		m.Pause(3 * time.Second)
		timesOut(t, func() redis.Cmder { return c.Set(ctx, "gone", "1", 0) })
		begin := time.Now()
		patient := w.Client("b", m, func(o *redis.Options) { o.ReadTimeout = time.Minute })
		must(t, patient.Set(ctx, "kept", "1", 0))
		if d := time.Since(begin); d > 3*time.Second || d < time.Second {
			t.Errorf("it took %v", d)
		}
		holds(t, m, "gone", "")
		holds(t, m, "kept", "1")
		holds(t, m, "short", "")
		m.Pause(time.Hour)
		m.Restart(false)
		time.Sleep(time.Millisecond)
		must(t, c.Set(ctx, "after", "1", 0))
	})
}
