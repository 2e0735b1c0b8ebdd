package simnet_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

// TestSetLoss: one link loses what others do not, until it is told otherwise.
func TestSetLoss(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		patient := func(o *redis.Options) { o.ReadTimeout = time.Hour }
		bad, good := w.Client("a", m, patient), w.Client("b", m, patient)
		slow := func(c *redis.Client) (n int) {
			for range 100 {
				start := time.Now()
				must(t, c.Ping(ctx))
				if time.Since(start) > time.Millisecond {
					n++
				}
			}
			return n
		}
		w.SetLoss("a", m, 0.2)
		if n := slow(bad); n < 20 || n > 60 {
			t.Errorf("%d of 100 commands met a loss of 20 %% a hop", n)
		}
		w.SetLoss("a", m, 0)
		if a, b := slow(bad), slow(good); a > 1 || b > 1 { // the first one dials
			t.Errorf("on good links %d and %d of 100 commands were slow", a, b)
		}
		for _, share := range []float64{-0.1, 1} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("SetLoss(%v) did not panic", share)
					}
				}()
				w.SetLoss("a", m, share)
			}()
		}
	})
}

// TestKeepReplies: what was to be lost is not, for that host.
func TestKeepReplies(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		other := w.Client("b", m, fast)
		must(t, other.Ping(ctx))
		m.DropReply("a", "PING", 1, simnet.Stall)
		m.DropReply("b", "PING", 1, simnet.Stall)
		m.KeepReplies("a")
		must(t, c.Ping(ctx))
		timesOut(t, func() redis.Cmder { return other.Ping(ctx) })
	})
}
