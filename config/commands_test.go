package config

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// Each command counts, in a pipeline too, and whatever became of it.
func TestCommandsAreCounted(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	cl := open(t, fast(ModeSingle, s.Addr()))
	c := cl.clients[0]
	before := cl.Commands()
	if before == 0 {
		t.Error("Open looks at the server, and counts nothing")
	}
	for range 5 {
		noErr(t, c.Ping(t.Context()).Err())
	}
	_, err := c.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Ping(t.Context())
		p.Ping(t.Context())
		return nil
	})
	noErr(t, err)
	if n := cl.Commands() - before; n != 7 {
		t.Errorf("7 commands count as %d", n)
	}
	noErr(t, s.Kill())
	before = cl.Commands()
	if c.Ping(t.Context()).Err() == nil || cl.Commands() != before+1 {
		t.Error("a command that fails is not counted")
	}
}

// The hook adds nothing to what go-redis allocates for a command.
func TestCountingAllocatesNothing(t *testing.T) {
	var c counter
	ctx, cmd := context.Background(), redis.NewCmd(context.Background(), "PING")
	hooked := c.ProcessHook(func(context.Context, redis.Cmder) error { return nil })
	if n := testing.AllocsPerRun(100, func() { _ = hooked(ctx, cmd) }); n != 0 {
		t.Errorf("%v allocations a command", n)
	}
	if c.n.Load() < 100 {
		t.Errorf("counted %d", c.n.Load())
	}
}
