package simnet_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// timesOut fails the test unless the command fails after 100 ms.
func timesOut(t *testing.T, f func() redis.Cmder) {
	t.Helper()
	start := time.Now()
	cmd := f()
	if err := fails(t, cmd); !isTimeout(err) {
		t.Errorf("%v: %v, want a timeout", cmd.Args(), err)
	}
	if d := time.Since(start); d < 100*time.Millisecond || d > 102*time.Millisecond {
		t.Errorf("%v failed after %v, want 100 ms", cmd.Args(), d)
	}
}

func TestCutHoldsAndHealDelivers(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		w.Cut("a", m)
		timesOut(t, func() redis.Cmder { return c.Set(ctx, "k", "late", 0) })
		time.Sleep(time.Minute)
		holds(t, m, "k", "")
		must(t, w.Client("b", m, fast).Set(ctx, "other", "v", 0))
		w.Heal("a", m)
		time.Sleep(time.Millisecond)
		holds(t, m, "k", "late") // its client had given up and closed the connection
		if n := m.Connections("a"); n != 0 {
			t.Errorf("%d connections are left", n)
		}
		must(t, c.Set(ctx, "k", "new", 0))
	})
}

func TestCutCatchesWhatIsInFlight(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		got := make(chan error, 1)
		go func() { got <- c.Set(ctx, "k", "v", 0).Err() }()
		time.Sleep(50 * time.Microsecond) // less than the shortest hop
		w.Cut("a", m)
		time.Sleep(10 * time.Millisecond)
		holds(t, m, "k", "")
		w.Heal("a", m)
		if err := <-got; err != nil {
			t.Errorf("after healing: %v", err)
		}
		holds(t, m, "k", "v")
	})
}

func TestOrderIsKeptAcrossCuts(t *testing.T) {
	for seed := range uint64(200) {
		world(t, seed, simnet.Options{}, func(t *testing.T, w *simnet.World) {
			m := w.AddMaster("m")
			conn, err := w.Dialer("a")(ctx, "tcp", m.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			src := w.Source("test")
			for i := range 12 {
				conn.Write([]byte("*3\r\n$6\r\nAPPEND\r\n$1\r\nk\r\n$1\r\n" + string(rune('a'+i)) + "\r\n"))
				time.Sleep(src.Between(0, 200*time.Microsecond))
				switch i % 3 {
				case 1:
					w.Cut("a", m)
				case 2:
					w.Heal("a", m)
				}
			}
			time.Sleep(10 * time.Millisecond)
			holds(t, m, "k", "abcdefghijkl")
		})
	}
}

func TestCutOneWay(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		w.CutReplies("a", m)
		timesOut(t, func() redis.Cmder { return c.Set(ctx, "replies", "v", 0) })
		holds(t, m, "replies", "v")
		w.Heal("a", m)
		must(t, c.Ping(ctx))
		w.CutRequests("a", m)
		timesOut(t, func() redis.Cmder { return c.Set(ctx, "requests", "v", 0) })
		holds(t, m, "requests", "")
		w.Heal("a", m)
		must(t, c.Ping(ctx))
	})
}

func TestDialIntoCut(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, _ *redis.Client) {
		c := w.Client("b", m, fast)
		w.Cut("b", m)
		timesOut(t, func() redis.Cmder { return c.Ping(ctx) })
		w.Heal("b", m)
		time.Sleep(time.Millisecond)
		if n := m.Connections("b"); n != 0 {
			t.Errorf("%d connections of a dial that was given up", n)
		}
		patient := w.Client("b", m, nil)
		w.Cut("b", m)
		time.AfterFunc(2*time.Second, func() { w.Heal("b", m) })
		must(t, patient.Ping(ctx))
	})
}

func TestContextEndsACommand(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		w.Cut("a", m)
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		start := time.Now()
		fails(t, c.Ping(short))
		if d := time.Since(start); d < 20*time.Millisecond || d > 21*time.Millisecond {
			t.Errorf("ended after %v, want 20 ms", d)
		}
	})
}

func TestIsolateAndRejoin(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m, n := w.AddMaster("m"), w.AddMaster("n")
		w.Isolate("a")
		c, d, b := w.Client("a", m, fast), w.Client("a", n, fast), w.Client("b", m, fast)
		timesOut(t, func() redis.Cmder { return c.Ping(ctx) })
		timesOut(t, func() redis.Cmder { return d.Ping(ctx) })
		must(t, b.Ping(ctx))
		w.Cut("a", m)
		w.Rejoin("a")
		timesOut(t, func() redis.Cmder { return c.Ping(ctx) })
		must(t, d.Ping(ctx))
	})
}

func TestSlow(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		w.Slow("a", m, 20*time.Millisecond)
		start := time.Now()
		must(t, c.Ping(ctx))
		if d := time.Since(start); d < 40*time.Millisecond || d > 41*time.Millisecond {
			t.Errorf("PING took %v, want 40 ms", d)
		}
		w.Slow("a", m, 0)
		w.SetLatency("a", m, simnet.Latency{Min: time.Second, Max: time.Second})
		timesOut(t, func() redis.Cmder { return c.Ping(ctx) })
	})
}

func TestLossIsRetransmitted(t *testing.T) {
	world(t, 1, simnet.Options{Loss: 0.2}, func(t *testing.T, w *simnet.World) {
		c := w.Client("a", w.AddMaster("m"), func(o *redis.Options) { o.ReadTimeout = time.Hour })
		slow := 0
		for range 100 {
			start := time.Now()
			must(t, c.Ping(ctx))
			switch d := time.Since(start); {
			case d > 200*time.Millisecond:
				slow++
			case d > time.Millisecond:
				t.Errorf("PING took %v", d)
			}
		}
		if slow < 20 || slow > 60 { // 36 are expected
			t.Errorf("%d of 100 commands met a loss of 20 %% a hop", slow)
		}
	})
}

func TestLossWithoutRetransmissionStalls(t *testing.T) {
	world(t, 1, simnet.Options{Loss: 0.1, Retransmit: -1}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		c := w.Client("a", m, fast)
		lost := 0
		for range 20 {
			if c.Ping(ctx).Err() != nil {
				lost++
			}
		}
		if lost < 2 || lost > 18 {
			t.Errorf("%d of 20 commands stalled", lost)
		}
		w.Heal("a", m)
	})
}

func TestHangAndResume(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.Hang()
		timesOut(t, func() redis.Cmder { return c.Set(ctx, "k", "1", 0) })
		conn, err := w.Dialer("b")(ctx, "tcp", m.Addr())
		if err != nil {
			t.Fatalf("a hung master's kernel accepts: %v", err)
		}
		conn.Write([]byte("*3\r\n$6\r\nAPPEND\r\n$1\r\nk\r\n$1\r\n2\r\n"))
		time.Sleep(time.Second)
		holds(t, m, "k", "")
		m.Resume()
		buf := make([]byte, 10)
		if n, err := conn.Read(buf); err != nil || string(buf[:n]) != ":2\r\n" {
			t.Errorf("read %q, %v", buf[:n], err)
		}
		conn.Close()
		holds(t, m, "k", "12")
		must(t, c.Ping(ctx))
	})
}

func TestCrashAndRestart(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		must(t, c.Set(ctx, "k", "v", 0))
		must(t, c.Set(ctx, "short", "v", time.Second))
		script := redis.NewScript("return 1")
		must(t, script.Load(ctx, c))
		first := m.RunID()
		time.Sleep(1500 * time.Millisecond)
		m.Crash()
		if err := fails(t, c.Ping(ctx)); !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("PING of a crashed master: %v", err)
		}
		if err := fails(t, c.Ping(ctx)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial of a crashed master: %v", err)
		}
		m.Restart(false)
		holds(t, m, "k", "v")
		holds(t, m, "short", "")
		if m.RunID() == first {
			t.Error("run_id is the old one")
		}
		if v := c.Info(ctx, "server").Val(); !strings.Contains(v, "uptime_in_seconds:0\r\n") {
			t.Errorf("INFO after a restart: %q", v)
		}
		if err := fails(t, script.EvalSha(ctx, c, nil)); !redis.HasErrorPrefix(err, "NOSCRIPT") {
			t.Errorf("EVALSHA after a restart: %v", err)
		}
		m.Restart(true)
		holds(t, m, "k", "")
		time.Sleep(time.Millisecond) // for the reset
		must(t, c.Ping(ctx))
	})
}

func TestCrashBehindACutIsNoticedLate(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, _ *redis.Client) {
		conn, err := w.Dialer("b")(ctx, "tcp", m.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		w.Cut("b", m)
		m.Restart(false)
		w.Heal("b", m)
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); !isTimeout(err) {
			t.Errorf("the reset had been lost, but read: %v", err)
		}
		conn.SetReadDeadline(time.Time{})
		conn.Write([]byte("*1\r\n$4\r\nPING\r\n"))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read after writing to a stranger: %v", err)
		}
		if _, err := conn.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write after a reset: %v", err)
		}
	})
}

func TestIdleConnectionsAreCheckedBeforeUse(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.Restart(false)
		time.Sleep(time.Millisecond)
		must(t, c.Ping(ctx)) // go-redis finds its idle connection dead and dials
		w.Disconnect("a", m)
		time.Sleep(time.Millisecond)
		must(t, c.Ping(ctx))
	})
}

func TestDropReply(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.DropReply("a", "", 1, simnet.Reset)
		start := time.Now()
		if err := fails(t, c.Set(ctx, "reset", "v", 0)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("SET: %v", err)
		}
		if d := time.Since(start); d > time.Millisecond {
			t.Errorf("the reset took %v", d)
		}
		holds(t, m, "reset", "v")
		must(t, c.Ping(ctx))

		m.DropReply("a", "incr", 2, simnet.Stall)
		must(t, c.Incr(ctx, "n"))
		timesOut(t, func() redis.Cmder { return c.Incr(ctx, "n") })
		holds(t, m, "n", "2")
		must(t, c.Incr(ctx, "n"))

		m.DropReply("b", "set", 1, simnet.Reset)
		must(t, c.Set(ctx, "k", "v", 0))
	})
}

func TestDropReplyInPipeline(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, _ *redis.Client) {
		incr := strings.Repeat("*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", 3)
		for _, tt := range []struct {
			how  simnet.Loss
			then error
		}{{simnet.Stall, os.ErrDeadlineExceeded}, {simnet.Reset, syscall.ECONNRESET}} {
			m.FlushAll()
			m.DropReply("b", "INCR", 2, tt.how)
			conn, err := w.Dialer("b")(ctx, "tcp", m.Addr())
			if err != nil {
				t.Fatal(err)
			}
			conn.Write([]byte(incr))
			buf := make([]byte, 100)
			if n, err := conn.Read(buf); err != nil || string(buf[:n]) != ":1\r\n" {
				t.Errorf("first reply %q, %v", buf[:n], err)
			}
			conn.SetDeadline(time.Now().Add(time.Second))
			if _, err := conn.Read(buf); !errors.Is(err, tt.then) {
				t.Errorf("then %v, want %v", err, tt.then)
			}
			conn.Close()
		}
		holds(t, m, "n", "2") // a reset ends a pipeline, a stall does not
	})
}

func TestDataFaults(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		must(t, c.MSet(ctx, "a", 1, "b", 2, "c", 3))
		if !m.Evict("a") || m.Evict("a") {
			t.Error("Evict did not tell")
		}
		holds(t, m, "a", "")
		holds(t, m, "b", "2")
		m.FlushAll()
		if keys := m.Keys(); len(keys) != 0 {
			t.Errorf("keys after FlushAll: %q", keys)
		}
		script := redis.NewScript("return 1")
		must(t, script.Load(ctx, c))
		must(t, script.EvalSha(ctx, c, nil))
		m.ScriptFlush()
		if err := fails(t, script.EvalSha(ctx, c, nil)); !redis.HasErrorPrefix(err, "NOSCRIPT") {
			t.Errorf("EVALSHA: %v", err)
		}
	})
}
