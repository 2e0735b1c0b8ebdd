package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/quorum"
	"incumbent/single"
)

// leaseTTL is far longer than a block takes.
const leaseTTL = 10 * time.Second

// retention is how long a record outlives a program that is killed: the least there is.
const retention = time.Hour

// store is what a mode's operations work on.
type store interface {
	election.Store
	Init(context.Context) error
}

// newStore makes the store of a mode.
func newStore(m Mode, clients []redis.UniversalClient, name string) (store, error) {
	if m.Masters == 1 {
		return single.New(clients[0], name, single.Options{Prefix: Prefix, Retention: retention})
	}
	return quorum.New(clients, name, quorum.Options{Prefix: Prefix, Retention: retention})
}

// contest is one election that an operation has for itself.
type contest struct {
	store   store
	clients []redis.UniversalClient
	id      uint64
	name    string
	bids    int
	grant   election.Grant
}

// acquire wins the lease.
func (c *contest) acquire(ctx context.Context) (err error) {
	c.bids++ // no value may come twice
	c.grant, err = c.store.Acquire(ctx, election.Bid{
		Value:     fmt.Sprintf("%016x-%07d-%032x", c.id, c.bids, c.id), // as long as an elector's
		Candidate: election.Candidate{ID: "bench"}, TTL: leaseTTL,
	})
	return err
}

// renew renews it.
func (c *contest) renew(ctx context.Context) error {
	renewed, err := c.store.Renew(ctx, c.grant)
	if err == nil {
		c.grant = renewed
	}
	return err
}

// release gives it back.
func (c *contest) release(ctx context.Context) error {
	if c.grant.Value == "" {
		return nil // a bid failed
	}
	g := c.grant
	c.grant = election.Grant{}
	_, err := c.store.Release(ctx, g)
	return err
}

func (c *contest) settle(ctx context.Context) error { return c.store.Settle(ctx) }

// remove deletes the election's keys from all masters.
func (c *contest) remove(ctx context.Context) error {
	key := Prefix + ":{" + c.name + "}:"
	return removeKeys(ctx, c.clients, key+"lease", key+"record")
}

// modeOperations are those of one mode, each on an election of its own.
func modeOperations(ctx context.Context, m Mode, clients []redis.UniversalClient) ([]*operation, error) {
	clients = clients[:m.Masters]
	var ops []*operation
	for _, name := range []string{OpAcquire, OpRenew, OpRelease, OpCycle} {
		c := &contest{clients: clients, id: freshID()}
		c.name = fmt.Sprintf("bench-%016x", c.id)
		var err error
		if c.store, err = newStore(m, clients, c.name); err != nil {
			return ops, err
		}
		o := c.operation(name)
		o.Op = Op{name, m.Name, m.Masters, floorFor(name)}
		ops = append(ops, o)
		if err := c.store.Init(ctx); err != nil { // or the first bid waits for guards
			return ops, err
		}
	}
	return ops, nil
}

// operation is one of those that a mode has.
func (c *contest) operation(name string) *operation {
	o := &operation{settle: c.settle, remove: c.remove}
	acquire, release := all(c.acquire, c.settle), all(c.release, c.settle)
	switch name {
	case OpAcquire:
		o.do, o.after, o.end = c.acquire, release, release
	case OpRenew:
		o.begin, o.do, o.end = acquire, c.renew, release
	case OpRelease:
		o.before, o.do, o.end = acquire, c.release, release
	case OpCycle:
		o.do, o.end = all(c.acquire, c.release), release
	}
	return o
}

// ids counts what freshID gave.
var ids atomic.Uint64

// freshID is a number that no other election or key has in its name. All are written at
// one length, so that bytes can be compared.
func freshID() uint64 { return uint64(time.Now().UnixNano()) + ids.Add(1) }

// removeKeys deletes keys from all servers.
func removeKeys(ctx context.Context, clients []redis.UniversalClient, keys ...string) error {
	for _, c := range clients {
		if err := c.Del(ctx, keys...).Err(); err != nil {
			return err
		}
	}
	return nil
}
