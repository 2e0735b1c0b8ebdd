package simnet_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

// near fails the test unless got is within a few round trips of want.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d.Abs() > 5*time.Millisecond {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestJumpForwardExpires(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		must(t, c.Set(ctx, "k", "v", 10*time.Second))
		m.JumpClock(9 * time.Second)
		near(t, "PTTL", m.PTTL("k"), time.Second)
		near(t, "offset", time.Until(m.Now()), 9*time.Second)
		m.JumpClock(time.Second)
		holds(t, m, "k", "")
	})
}

func TestJumpBackLengthens(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		must(t, c.Set(ctx, "k", "v", 10*time.Second))
		must(t, c.Set(ctx, "gone", "v", time.Second))
		must(t, c.Set(ctx, "kept", "v", 0))
		time.Sleep(2 * time.Second)
		m.JumpClock(-20 * time.Second)
		holds(t, m, "gone", "") // what has expired stays so
		near(t, "PTTL", m.PTTL("k"), 28*time.Second)
		near(t, "PTTL by command", c.PTTL(ctx, "k").Val(), 28*time.Second)
		time.Sleep(5 * time.Second)
		near(t, "PTTL later", m.PTTL("k"), 23*time.Second)
		if d := m.PTTL("kept"); d != simnet.NoExpiry {
			t.Errorf("a key without expiry got one: %v", d)
		}
		m.SetClockOffset(0)
		near(t, "PTTL of a right clock", m.PTTL("k"), 3*time.Second)
		must(t, c.Set(ctx, "new", "v", time.Second))
		time.Sleep(time.Second)
		holds(t, m, "new", "")
	})
}

func TestDrift(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.SetDrift(100_000) // gains a tenth
		must(t, c.Set(ctx, "k", "v", 11*time.Second))
		time.Sleep(5 * time.Second)
		near(t, "PTTL", m.PTTL("k"), 5500*time.Millisecond)
		near(t, "offset", time.Until(m.Now()), 500*time.Millisecond)
		time.Sleep(5 * time.Second)
		holds(t, m, "k", "")
		m.SetDrift(-100_000)
		time.Sleep(10 * time.Second)
		near(t, "offset", time.Until(m.Now()), 0)
		m.SetClockOffset(time.Minute)
		m.SetDrift(0)
		time.Sleep(time.Hour)
		near(t, "offset", time.Until(m.Now()), time.Minute)
	})
}

func TestUptimeFollowsTheMastersClock(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		uptime := func() any { return c.InfoMap(ctx, "server").Val()["Server"]["uptime_in_seconds"] }
		time.Sleep(3 * time.Second)
		if v := uptime(); v != "3" {
			t.Errorf("uptime = %v after 3 s", v)
		}
		m.JumpClock(time.Minute)
		if v := uptime(); v != "63" {
			t.Errorf("uptime = %v after a jump by a minute", v)
		}
		m.Restart(true)
		time.Sleep(time.Second)
		if v := uptime(); v != "1" {
			t.Errorf("uptime = %v a second after a restart", v)
		}
	})
}
