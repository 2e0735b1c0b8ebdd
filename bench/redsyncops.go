package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-redsync/redsync/v4"
	rs "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// redsyncOperations are those of redsync itself, with its defaults, on n masters. It
// waits for all of them.
func redsyncOperations(n int, clients []redis.UniversalClient) []*operation {
	clients = clients[:n]
	var pools []rs.Pool
	for _, c := range clients {
		pools = append(pools, goredis.NewPool(c))
	}
	mutex := func() redsyncMutex {
		return redsyncMutex{redsync.New(pools...).NewMutex(freshKey(), redsync.WithExpiry(leaseTTL), redsync.WithTries(1))}
	}
	held, free := mutex(), mutex()
	mode := fmt.Sprintf("redsync%d", n)
	return []*operation{
		{
			Op: Op{OpRenew, mode, n, floorFor(OpRenew)}, begin: held.lock, do: held.extend, end: held.unlock,
			remove: func(ctx context.Context) error { return removeKeys(ctx, clients, held.m.Name()) },
		},
		{
			Op: Op{OpCycle, mode, n, floorFor(OpCycle)}, do: all(free.lock, free.unlock),
			remove: func(ctx context.Context) error { return removeKeys(ctx, clients, free.m.Name()) },
		},
	}
}

type redsyncMutex struct{ m *redsync.Mutex }

var errRedsync = errors.New("redsync: no majority")

func (r redsyncMutex) lock(ctx context.Context) error { return r.m.LockContext(ctx) }

func (r redsyncMutex) extend(ctx context.Context) error {
	return agreed(r.m.ExtendContext(ctx))
}

func (r redsyncMutex) unlock(ctx context.Context) error {
	return agreed(r.m.UnlockContext(ctx))
}

func agreed(ok bool, err error) error {
	if err == nil && !ok {
		err = errRedsync
	}
	return err
}
