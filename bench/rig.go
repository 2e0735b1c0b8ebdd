package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// A rig is all operations on one set of connections.
type rig struct {
	ops     []*operation
	clients []*redis.Client
	raw     *rawConn
}

// openRig connects and prepares all operations. Where counters are given, one for each
// endpoint, they count. Close the rig also after an error.
func openRig(ctx context.Context, endpoints []endpoint, modes []Mode, counters []*counter) (*rig, error) {
	r := &rig{}
	var clients []redis.UniversalClient
	count := func(i int) *counter {
		if counters == nil {
			return nil
		}
		return counters[i]
	}
	for i, e := range endpoints {
		c := e.client(count(i))
		r.clients = append(r.clients, c)
		clients = append(clients, c)
		if err := c.Ping(ctx).Err(); err != nil {
			return r, fmt.Errorf("server %s: %w", e.addr(), err)
		}
	}
	var err error
	if r.raw, err = dialRaw(ctx, endpoints[0], count(0)); err != nil {
		return r, fmt.Errorf("server %s: %w", endpoints[0].addr(), err)
	}
	if r.ops, err = floorOperations(ctx, r.clients[0], r.raw); err != nil {
		return r, err
	}
	for _, m := range modes {
		ops, err := modeOperations(ctx, m, clients)
		r.ops = append(r.ops, ops...)
		if err != nil {
			return r, err
		}
	}
	for _, m := range modes {
		r.ops = append(r.ops, redsyncOperations(m.Masters, clients)...)
	}
	return r, nil
}

// cleanTime is how long removing keys may take.
const cleanTime = 10 * time.Second

// close removes all keys and closes the connections, also when ctx has ended.
func (r *rig) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	var errs []error
	for _, o := range r.ops {
		errs = append(errs, call(ctx, o.settle), call(ctx, o.remove))
	}
	for _, c := range r.clients {
		errs = append(errs, c.Close())
	}
	if r.raw != nil {
		errs = append(errs, r.raw.close())
	}
	return errors.Join(errs...)
}
