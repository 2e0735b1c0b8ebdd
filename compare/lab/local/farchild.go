package local

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/redis/go-redis/v9"

	"incumbent/config"
	"incumbent/election"
)

// farStore is what a candidate opened where masters belong to somebody else.
type farStore struct {
	cfg    *config.Config
	store  election.Store
	losers []*replyLoser // by master
}

// openFar opens the store as a service does that uses package config.
func (c *child) openFar(ctx context.Context) error {
	f := c.cfg.Far
	environ := f.Environ
	if environ == nil {
		environ = []string{} // nil would mean this process's own
	}
	cfg, err := config.LoadFrom(config.Sources{Path: f.Path, YAML: f.YAML, Environ: environ, Flags: f.Flags})
	if err != nil {
		return err
	}
	cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	cfg.Dialer = f.dialer(cfg.ServerNames())
	client, err := cfg.Open(ctx)
	if err != nil {
		return err
	}
	far := &farStore{cfg: cfg}
	for _, s := range client.Servers() {
		loser := &replyLoser{}
		s.Client.AddHook(loser)
		far.losers = append(far.losers, loser)
	}
	far.store, err = client.Store(c.cfg.Election)
	c.far = far
	return err
}

// configure adds what the configuration says of terms. A longest term is left out: it
// would end leaders that no fault has struck.
func (f *farStore) configure(o *election.Options) {
	o.Renew, o.StepDown, o.MaxTTL, o.Grace = f.cfg.Renew, f.cfg.StepDown, f.cfg.MaxTTL, f.cfg.Grace
}

// What a candidate is told of replies, each followed by the number of a master.
const (
	cmdResetReply = "reset-reply" // lose the next one, as if the connection broke
	cmdMuteReply  = "mute-reply"  // lose it, as if nothing came any more
	cmdKeepReply  = "keep-reply"  // do not, after all
)

// farReplies tells a candidate to lose or keep replies. Proxies cannot, since they do
// not see where a reply begins that is encrypted. It does nothing where masters are the
// lab's.
func (l *Lab) farReplies(name, command string, master int) error {
	if l.opt.Far == nil {
		return nil
	}
	c, err := l.running(name)
	if err != nil {
		return err
	}
	return c.tell(fmt.Sprintf("%s %d", command, master))
}

// farCommand obeys one of those commands. It passes over anything else.
func (c *child) farCommand(text string) {
	var word string
	var master int
	if _, err := fmt.Sscan(text, &word, &master); err != nil || c.far == nil || master < 0 || master >= len(c.far.losers) {
		return
	}
	c.far.losers[master].next.Store(&word)
}

// A replyLoser loses the reply to a script that a master has executed.
type replyLoser struct{ next atomic.Pointer[string] }

// DialHook implements redis.Hook.
func (*replyLoser) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook implements redis.Hook: where replicas have to acknowledge.
func (r *replyLoser) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if err != nil || len(cmds) == 0 {
			return err
		}
		if err = r.lose(ctx, cmds[0]); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		}
		return err
	}
}

// ProcessHook implements redis.Hook.
func (r *replyLoser) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err != nil {
			return err
		}
		if err = r.lose(ctx, cmd); err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

// lose is nil where a reply is to be kept.
func (r *replyLoser) lose(ctx context.Context, cmd redis.Cmder) error {
	if !strings.HasPrefix(cmd.Name(), "eval") {
		return nil
	}
	switch word := r.next.Swap(nil); {
	case word == nil:
		return nil
	case *word == cmdResetReply:
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case *word == cmdMuteReply:
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}
