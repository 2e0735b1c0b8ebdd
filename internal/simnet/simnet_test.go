package simnet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

func TestRoundTrip(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		c := w.Client("a", m, nil)
		start := time.Now()
		must(t, c.Set(ctx, "k", "v", time.Second))
		// dial, HELLO and SET are six hops
		if d := time.Since(start); d < 6*simnet.LAN.Min || d > 6*simnet.LAN.Max+30*time.Microsecond {
			t.Errorf("the first command took %v", d)
		}
		if v, err := c.Get(ctx, "k").Result(); v != "v" || err != nil {
			t.Errorf("Get = %q, %v", v, err)
		}
		if d := m.PTTL("k"); d > time.Second || d < time.Second-2*time.Millisecond {
			t.Errorf("PTTL = %v", d)
		}
		time.Sleep(time.Second)
		holds(t, m, "k", "")
	})
}

func TestOptionsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		opts simnet.Options
		want string
	}{
		{simnet.Options{Latency: simnet.Latency{Min: 2, Max: 1}}, "Options.Latency is 2ns to 1ns"},
		{simnet.Options{Latency: simnet.Latency{Max: 1}}, "Min must be above 0"},
		{simnet.Options{Loss: 1}, "Options.Loss is 1"},
		{simnet.Options{Loss: -0.1}, "Options.Loss is -0.1"},
		{simnet.Options{Residues: 10}, "Options.Residues is 10"},
		{simnet.Options{Uptime: -time.Second}, "Options.Uptime is -1s"},
		{simnet.Options{Uptime: time.Millisecond}, "Options.Uptime is 1ms"},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, err := simnet.New(1, tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New(%+v): %v, want %q", tt.opts, err, tt.want)
			}
		})
	}
}

func TestNewOutsideBubble(t *testing.T) {
	if _, err := simnet.New(1, simnet.Options{}); err == nil || !strings.Contains(err.Error(), "bubble") {
		t.Errorf("New outside a bubble: %v", err)
	}
}

func TestScriptSeesTimeAndInfo(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.SetClockOffset(time.Hour)
		time.Sleep(1700 * time.Millisecond)
		for _, call := range []string{"call", "pcall"} {
			src := fmt.Sprintf(`local t = redis.%[1]s('TIME')
				return {t[1], t[2], redis.%[1]s('INFO','server'), redis.%[1]s('INFO','replication'), redis.%[1]s('INFO')}`, call)
			v, err := c.Eval(ctx, src, nil).StringSlice()
			if err != nil {
				t.Fatal(err)
			}
			var sec, usec int64
			fmt.Sscan(v[0]+" "+v[1], &sec, &usec)
			if d := time.Since(time.Unix(sec, usec*1000).Add(-time.Hour)); d < 0 || d > time.Millisecond {
				t.Errorf("%s: TIME is %v behind the master's clock", call, d)
			}
			for _, want := range []string{"run_id:" + m.RunID() + "\r\n", "uptime_in_seconds:3601\r\n",
				"redis_version:7.0.15\r\n", "redis_mode:standalone\r\n"} {
				if !strings.Contains(v[2], want) || !strings.Contains(v[4], want) {
					t.Errorf("%s: INFO lacks %q: %q", call, want, v[2])
				}
			}
			if strings.Contains(v[2], "role:") || !strings.Contains(v[3], "role:master\r\n") {
				t.Errorf("%s: sections are mixed up: %q and %q", call, v[2], v[3])
			}
		}
	})
}

func TestInfoFromClient(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		if v := c.Info(ctx, "server").Val(); !strings.Contains(v, "run_id:"+m.RunID()) || len(m.RunID()) != 40 {
			t.Errorf("INFO server = %q", v)
		}
		if v, err := c.Info(ctx, "persistence").Result(); v != "" || err != nil {
			t.Errorf("INFO of an unknown section = %q, %v", v, err)
		}
		m.RewriteInfo(func(info string) string { return strings.ReplaceAll(info, "run_id:", "hidden:") })
		if v := c.Info(ctx).Val(); strings.Contains(v, "run_id:") || !strings.Contains(v, "hidden:") {
			t.Errorf("rewritten INFO = %q", v)
		}
	})
}

func TestCountersAndTrace(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		var trace []string
		w.OnCommand(func(cmd simnet.Command) {
			trace = append(trace, fmt.Sprint(cmd.Host, " ", cmd.Master, " ", cmd.Args[0], " ", cmd.Reply))
			m.Commands("", "") // a tracer may look around
		})
		must(t, c.Eval(ctx, "redis.call('SET','k','v') redis.call('GET','k') return 7", nil))
		must(t, c.Ping(ctx))
		b := w.Client("b", m, nil)
		must(t, b.Set(ctx, "x", "y", 0))
		for _, tt := range []struct {
			host, command string
			want          int
		}{
			{"a", "ping", 2}, {"a", "EVAL", 1}, {"", "SET", 1}, {"b", "set", 1}, {"a", "SET", 0}, {"", "GET", 0},
			{"a", "", 4}, {"b", "", 2},
		} {
			if n := m.Commands(tt.host, tt.command); n != tt.want {
				t.Errorf("Commands(%q, %q) = %d, want %d", tt.host, tt.command, n, tt.want)
			}
		}
		want := []string{"a m eval :7\r\n", "a m ping +PONG\r\n", "b m hello ", "b m set +OK\r\n"}
		if len(trace) != len(want) || trace[0] != want[0] || trace[1] != want[1] ||
			!strings.HasPrefix(trace[2], want[2]) || trace[3] != want[3] {
			t.Errorf("trace = %q", trace)
		}
		if in, out := m.Bytes("b"); in == 0 || out == 0 {
			t.Errorf("Bytes = %d, %d", in, out)
		}
		if n := m.Connections("b"); n != 1 {
			t.Errorf("Connections = %d", n)
		}
	})
}

func TestInspection(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		must(t, c.HSet(ctx, "h", "f", "1", "g", "2"))
		must(t, c.Set(ctx, "s", "v", 0))
		if got := fmt.Sprint(m.HGetAll("h"), m.HGetAll("s"), m.HGetAll("none")); got != "map[f:1 g:2] map[] map[]" {
			t.Errorf("HGetAll = %s", got)
		}
		if got := m.Keys(); !slices.Equal(got, []string{"h", "s"}) {
			t.Errorf("Keys = %q", got)
		}
		if m.PTTL("s") != simnet.NoExpiry || m.PTTL("none") != 0 {
			t.Errorf("PTTL = %v, %v", m.PTTL("s"), m.PTTL("none"))
		}
		if v, err := m.Do("HGET", "h", "g"); v != "2" || err != nil {
			t.Errorf("Do = %v, %v", v, err)
		}
		if _, err := m.Do("GET", "h"); err == nil || !strings.HasPrefix(err.Error(), "WRONGTYPE") {
			t.Errorf("Do on a wrong type: %v", err)
		}
		if n := m.Commands("", "HGET"); n != 0 {
			t.Errorf("Do was counted")
		}
		if m.Name() != "m" || m.Addr() != "10.0.0.1:6379" {
			t.Errorf("%s at %s", m.Name(), m.Addr())
		}
	})
}

func TestIntercept(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.Intercept(func(host string, args []string) (string, bool) {
			switch strings.ToUpper(args[0]) {
			case "SET":
				return "LOADING Redis is loading the dataset in memory", host == "a"
			case "DEL":
				return "-READONLY You can't write against a read only replica.", true
			case "WAIT":
				return ":2", true
			}
			return "", false
		})
		if err := fails(t, c.Set(ctx, "k", "v", 0)); err.Error() != "LOADING Redis is loading the dataset in memory" {
			t.Errorf("SET: %v", err)
		}
		if err := fails(t, c.Del(ctx, "k")); !strings.HasPrefix(err.Error(), "READONLY ") {
			t.Errorf("DEL: %v", err)
		}
		if n, err := c.Wait(ctx, 1, 0).Result(); n != 2 || err != nil {
			t.Errorf("WAIT = %d, %v", n, err)
		}
		holds(t, m, "k", "")
		must(t, w.Client("b", m, nil).Set(ctx, "k", "v", 0))
		m.Intercept(nil)
		must(t, c.Del(ctx, "k"))
	})
}

func TestInterceptScript(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.InterceptScript(func(args []string) (string, bool) {
			return "NOPERM no permission to access one of the channels", args[0] == "PUBLISH"
		})
		v, err := c.Eval(ctx, `local r = redis.pcall('PUBLISH','c','m')
			redis.call('SET','k','v') return r.err`, nil).Text()
		if err != nil || !strings.HasPrefix(v, "NOPERM ") {
			t.Errorf("pcall = %q, %v", v, err)
		}
		holds(t, m, "k", "v")
	})
}

func TestInterceptorMayCrashTheMaster(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.Intercept(func(_ string, args []string) (string, bool) {
			m.Intercept(nil)
			m.Restart(false)
			return "", false
		})
		fails(t, c.Set(ctx, "k", "v", 0))
		holds(t, m, "k", "")
		must(t, c.Set(ctx, "k", "v", 0))
	})
}

func TestNotSimulated(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		for _, args := range [][]any{
			{"BLPOP", "l", 0}, {"XREAD", "BLOCK", 0, "STREAMS", "s", "$"}, {"MONITOR"},
		} {
			if err := fails(t, c.Do(ctx, args...)); !strings.Contains(err.Error(), "not simulated") {
				t.Errorf("%v: %v", args, err)
			}
		}
		for _, published := range []bool{true, false} {
			_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "k", "v", 0)
				if published {
					p.Publish(ctx, "c", "m")
				}
				return nil
			})
			if published != redis.HasErrorPrefix(err, "EXECABORT") {
				t.Errorf("transaction with PUBLISH %v: %v", published, err)
			}
			if _, ok := m.Get("k"); ok == published {
				t.Errorf("transaction with PUBLISH %v: executed is %v", published, ok)
			}
		}
	})
}

func TestDialerOfUnknownAddress(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		if _, err := w.Dialer("a")(ctx, "tcp", "10.9.9.9:1"); err == nil || !strings.Contains(err.Error(), "10.9.9.9:1") {
			t.Errorf("dial: %v", err)
		}
	})
}

func TestCloseIsIdempotentAndOutlivesADialLoop(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		m.Crash()
		c := w.Client("a", m, func(o *redis.Options) { o.PoolSize = 1 })
		for range 3 {
			fails(t, c.Ping(ctx)) // go-redis now dials in the background once a second
		}
		w.Close()
	})
}

func TestCloseWhileBusy(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		errs := make(chan error, 3)
		for _, host := range []string{"cut", "frozen", "hung"} {
			c := w.Client(host, m, nil)
			go func() { errs <- c.Ping(ctx).Err() }()
		}
		w.Cut("cut", m)
		w.Freeze("frozen")
		m.Hang()
		time.Sleep(time.Second)
		w.Close()
		for range 3 {
			if err := <-errs; err == nil {
				t.Error("a ping succeeded")
			}
		}
	})
}
