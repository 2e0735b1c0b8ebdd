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
	l.note(p.name, "lease evicted")
	if record {
		l.note(p.name, "record evicted")
	}
	return l.ask(p, func(ctx context.Context, s *server) error { return s.evict(ctx, l.keys.Lease, l.keys.Record, record) })
}

// evict has a server that is short of memory evict the lease, or the record as well, and
// nobody sees it in between: its commands come in one piece. Which of two keys a server
// chooses is its own affair, so the record is safe for that moment where it is to stay.
func (s *server) evict(ctx context.Context, lease, record string, both bool) error {
	policy := "allkeys-lru"
	if !both {
		policy = "volatile-lru" // of what has an expiry
	}
	life, err := s.direct.PTTL(ctx, record).Result()
	if err != nil {
		return err
	}
	_, err = s.direct.Pipelined(ctx, func(c redis.Pipeliner) error {
		if !both {
			c.Persist(ctx, record)
		}
		c.Do(ctx, "CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", "1")
		c.Do(ctx, "PING") // the server looks at its memory before each command
		c.Do(ctx, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
		if !both && life > 0 {
			c.PExpire(ctx, record, life)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n, err := s.direct.Exists(ctx, lease).Result(); n > 0 || err != nil {
		return fmt.Errorf("%s kept its lease though it had no memory: %w", s.addr, errors.Join(err, errKept))
	}
	return nil
}

var errKept = errors.New("it was not evicted, or somebody has a new one")
