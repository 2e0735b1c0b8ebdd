package config

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Commands is how many commands this client has sent to all its servers, for all
// its elections: a script counts as one, whatever it does; subscriptions do not
// count. It only grows. It costs an addition a command, and no allocation.
func (cl *Client) Commands() uint64 { return cl.sent.n.Load() }

// counter is a hook that counts commands.
type counter struct{ n atomic.Uint64 }

// DialHook implements redis.Hook.
func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(uint64(len(cmds)))
		return next(ctx, cmds)
	}
}
