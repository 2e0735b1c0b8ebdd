package local

import (
	"context"
	"fmt"
	"time"
)

// keepLogs has masters write append-only files, where the fault needs them.
func (l *Lab) keepLogs(ctx context.Context) error {
	if !needsOf(l.scene.playing).log {
		return nil
	}
	for i := range l.places {
		p, err := l.place(i)
		if err != nil {
			return err
		}
		if p.primary.runs() {
			if err := p.primary.keepLog(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepLog has the server write an append-only file from now on, and returns when it does.
func (s *server) keepLog(ctx context.Context) error {
	if err := s.configure(ctx, "appendfsync", "always", "appendonly", "yes"); err != nil {
		return err
	}
	tick := time.NewTicker(syncPoll)
	defer tick.Stop()
	for {
		info, err := s.info(ctx, "persistence")
		if err != nil {
			return err
		}
		if info["aof_enabled"] == "1" && info["aof_rewrite_in_progress"] == "0" && info["aof_rewrite_scheduled"] == "0" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s does not keep an append-only file: %w", s.addr, ctx.Err())
		}
	}
}
