package local

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestReplyLoser: the reply to one script is lost, once, after the master has executed
// it, and nothing else is.
func TestReplyLoser(t *testing.T) {
	c := &child{far: &farStore{losers: []*replyLoser{{}, {}}}}
	r := c.far.losers[1]
	executed := 0
	process := r.ProcessHook(func(context.Context, redis.Cmder) error { executed++; return nil })
	do := func(name string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		cmd := redis.NewCmd(ctx, name)
		if err := process(ctx, cmd); !errors.Is(err, cmd.Err()) {
			t.Errorf("%s: %v, its command says %v", name, err, cmd.Err())
		}
		return cmd.Err()
	}
	for _, tt := range []struct {
		told, command string
		want          error
	}{
		{"", "evalsha", nil},
		{"reset-reply 1", "ping", nil}, // it waits for a script
		{"", "evalsha", syscall.ECONNRESET},
		{"", "evalsha", nil},
		{"mute-reply 1", "evalsha", context.DeadlineExceeded},
		{"mute-reply 1", "ping", nil},
		{"keep-reply 1", "evalsha", nil},
		{"reset-reply 0", "evalsha", nil}, // another master
		{"reset-reply 7", "evalsha", nil}, // there is none
		{"nonsense", "evalsha", nil},
	} {
		if tt.told != "" {
			c.farCommand(tt.told)
		}
		before := executed
		if err := do(tt.command); !errors.Is(err, tt.want) || tt.want == nil && err != nil || executed != before+1 {
			t.Errorf("told %q, %s: %v, want %v", tt.told, tt.command, err, tt.want)
		}
	}
	pipe := r.ProcessPipelineHook(func(context.Context, []redis.Cmder) error { return nil })
	c.farCommand("reset-reply 1")
	cmds := []redis.Cmder{redis.NewCmd(t.Context(), "evalsha"), redis.NewCmd(t.Context(), "wait")}
	if err := pipe(t.Context(), cmds); !errors.Is(err, syscall.ECONNRESET) || cmds[0].Err() == nil || cmds[1].Err() == nil {
		t.Errorf("a pipeline: %v", err)
	}
}
