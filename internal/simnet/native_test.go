package simnet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

// double is a script, and what answers it natively: they differ, so that each test
// sees which of them ran.
var double = redis.NewScript(`redis.call('SET', KEYS[1], 'lua') return {'lua', redis.call('PTTL', KEYS[1])}`)

func natively(d *simnet.Data, keys, argv []string) ([]any, bool) {
	if len(argv) > 0 {
		return nil, false
	}
	d.Set(keys[0], "native", 1000)
	return []any{"native", d.PTTL(keys[0])}, true
}

// withNative runs f with a master that answers the script natively.
func withNative(t *testing.T, f func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client)) {
	t.Helper()
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		w.SetNative(map[string]simnet.NativeScript{double.Hash(): natively})
		f(t, w, m, c)
	})
}

// ran fails the test unless that one has run.
func ran(t *testing.T, m *simnet.Master, c *redis.Client, want string, argv ...any) {
	t.Helper()
	reply, err := double.EvalSha(ctx, c, []string{"k"}, argv...).Slice()
	if err != nil || len(reply) != 2 || reply[0] != want {
		t.Fatalf("reply is %v, %v; want %q", reply, err, want)
	}
	holds(t, m, "k", want)
	if left := map[string]int64{"lua": -1, "native": 1000}[want]; reply[1] != left {
		t.Errorf("PTTL is %v, want %d", reply[1], left)
	}
}

func TestNativeScriptMustBeLoaded(t *testing.T) {
	withNative(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		missing := func() {
			t.Helper()
			if err := fails(t, double.EvalSha(ctx, c, []string{"k"})); !strings.HasPrefix(err.Error(), "NOSCRIPT") {
				t.Errorf("error is %v", err)
			}
		}
		missing()
		must(t, double.Load(ctx, c))
		ran(t, m, c, "native")
		m.ScriptFlush()
		missing()
		must(t, double.Eval(ctx, c, []string{"k"}))
		holds(t, m, "k", "native")
		ran(t, m, c, "native")
	})
}

func TestNativeScriptLeavesSomeToLua(t *testing.T) {
	withNative(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		must(t, double.Load(ctx, c))
		ran(t, m, c, "lua", "declined")
		ran(t, m, c, "native")
		m.InterceptScript(func([]string) (string, bool) { return "", false })
		ran(t, m, c, "lua")
		m.InterceptScript(nil)
		ran(t, m, c, "native")
		if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			double.EvalSha(ctx, p, []string{"k"})
			return nil
		}); err != nil {
			t.Error(err)
		}
		holds(t, m, "k", "lua")
		w.SetNative(nil)
		ran(t, m, c, "lua")
	})
}

func TestNativeScriptIsForDatabase0(t *testing.T) {
	withNative(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		other := w.Client("a", m, func(o *redis.Options) { o.DB = 3 })
		must(t, double.Eval(ctx, other, []string{"k"}))
		holds(t, m, "k", "")
		if v := other.Get(ctx, "k").Val(); v != "lua" {
			t.Errorf("GET = %q", v)
		}
	})
}

// TestData: what a native script reads is what commands answer, and what it writes
// is as if a command had written it.
func TestData(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		look := redis.NewScript("return 1")
		use := func(f func(d *simnet.Data)) {
			w.SetNative(map[string]simnet.NativeScript{look.Hash(): func(d *simnet.Data, _, _ []string) ([]any, bool) {
				f(d)
				return []any{}, true
			}})
			must(t, look.Eval(ctx, c, nil))
		}
		must(t, c.RPush(ctx, "list", "x"))
		must(t, c.Set(ctx, "forever", "v", 0))
		must(t, c.HSet(ctx, "hash", "a", "1", "empty", ""))
		id := m.RunID()
		use(func(d *simnet.Data) {
			if d.Type("list") != "list" || d.Type("none") != "" || d.PTTL("none") != -2 || d.PTTL("forever") != -1 {
				t.Error("a type or a PTTL is wrong")
			}
			if v, ok := d.Get("forever"); v != "v" || !ok {
				t.Errorf("Get = %q, %v", v, ok)
			}
			if v, ok := d.Get("list"); ok {
				t.Errorf("Get of a list = %q", v)
			}
			if d.HGet("hash", "a") != "1" || !d.HExists("hash", "empty") || d.HExists("hash", "b") || d.HExists("none", "b") {
				t.Error("a field is wrong")
			}
			if !strings.Contains(d.Info(), "run_id:"+id) {
				t.Errorf("Info = %q", d.Info())
			}
			d.Set("list", "now a string", 1500)
			d.PExpire("hash", 700)
			d.PExpire("forever", 0)
			d.PExpire("none", 100)
			d.HSet("new", "f", "1", "g", "2")
		})
		if left := m.PTTL("hash"); left > 700*time.Millisecond || left < 699*time.Millisecond {
			t.Errorf("hash expires in %s", left)
		}
		holds(t, m, "list", "now a string")
		holds(t, m, "forever", "")
		holds(t, m, "none", "")
		if v := c.HGetAll(ctx, "new").Val(); len(v) != 2 || v["g"] != "2" {
			t.Errorf("new is %v", v)
		}
		use(func(d *simnet.Data) { d.Del("new") })
		if c.Exists(ctx, "new").Val() != 0 {
			t.Error("new is still there")
		}
	})
}
