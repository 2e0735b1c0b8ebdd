package simnet_test

import (
	"testing"
	"testing/synctest"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

// Commands a second of real time, for one client that waits for each answer.
func BenchmarkCommand(b *testing.B) {
	script := redis.NewScript(`local t = redis.call('TIME')
		if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], 1000) end
		return t[1]`)
	for _, bb := range []struct {
		name string
		run  func(c *redis.Client) redis.Cmder
	}{
		{"op=ping", func(c *redis.Client) redis.Cmder { return c.Ping(ctx) }},
		{"op=set", func(c *redis.Client) redis.Cmder { return c.Set(ctx, "k", "v", 0) }},
		{"op=evalsha", func(c *redis.Client) redis.Cmder { return script.EvalSha(ctx, c, []string{"k"}, "v") }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			inBubble(b, func(w *simnet.World) {
				c := w.Client("a", w.AddMaster("m"), nil)
				if err := script.Load(ctx, c).Err(); err != nil {
					b.Fatal(err)
				}
				for range b.N {
					if err := bb.run(c).Err(); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}

// inBubble runs f in a bubble. In there the benchmark's timer must be left alone:
// it would read virtual time. The bubble wants a testing.T, which a benchmark
// does not have: a test of its own is made for it.
func inBubble(b *testing.B, f func(w *simnet.World)) {
	ran := false
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: b.Name(),
		F: func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, err := simnet.New(1, simnet.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				f(w)
				ran = true
			})
		},
	}})
	if !ok || !ran {
		b.Fatal("the bubble burst")
	}
}
