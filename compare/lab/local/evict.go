package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Evict implements fault.StoreWorld, with a limit of memory.
func (l *Lab) Evict(master int, record bool) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	evict := func() error {
		return l.askTo(p, "lease evicted", func(ctx context.Context, s *server) error {
			return s.evict(ctx, l.keys.Lease, l.keys.Record, record)
		})
	}
	if record {
		return l.done(p.name, "record evicted", evict)
	}
	return evict()
}

// evict has a server that is short of memory evict the lease, or the record as well, and
// nobody sees it in between: its commands come in one piece. Which of two keys a server
// chooses is its own affair, so the record is safe for that moment where it is to stay.
func (s *server) evict(ctx context.Context, lease, record string, both bool) error {
	policy, gone := "allkeys-lru", []string{lease, record}
	if !both {
		policy, gone = "volatile-lru", gone[:1] // of what has an expiry
	}
	life, err := s.direct.PTTL(ctx, record).Result()
	if err != nil {
		return err
	}
	var kept *redis.IntCmd
	_, err = s.direct.Pipelined(ctx, func(c redis.Pipeliner) error {
		if !both {
			c.Persist(ctx, record)
		}
		c.Do(ctx, "CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", "1")
		c.Do(ctx, "PING")             // the server looks at its memory before each command
		kept = c.Exists(ctx, gone...) // in the same piece: afterwards somebody may have a new lease
		c.Do(ctx, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
		if !both && life > 0 {
			c.PExpire(ctx, record, life)
		}
		return nil
	})
	if err == nil && kept.Val() > 0 {
		err = fmt.Errorf("%s kept %d of %d keys though it had no memory: %w", s.addr, kept.Val(), len(gone), errKept)
	}
	return err
}

var errKept = errors.New("not evicted")
