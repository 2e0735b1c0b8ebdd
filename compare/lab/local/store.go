package local

import (
	"context"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/quorum"
	"incumbent/single"
)

// store is what both kinds of store can.
type store interface {
	election.Store
	Init(ctx context.Context) error
}

// newStore makes the store of a mode.
func newStore(mode string, clients []redis.UniversalClient, name string, o single.Options) (store, error) {
	if mode == "single" {
		return single.New(clients[0], name, o)
	}
	return quorum.New(clients, name, o)
}

// storeOptions are those of candidates and of the lab, alike for both kinds.
func storeOptions(prefix string, unguard bool, acks int) single.Options {
	o := single.Options{Prefix: prefix, ReplicaAcks: acks}
	if unguard {
		o.GuardsOff = election.AllGuards
	}
	return o
}

// init says that nobody can be leading yet: the servers have only just started,
// and the first election would wait for their guards.
func (l *Lab) init(ctx context.Context) error {
	if l.opt.Far != nil {
		return l.farInit(ctx)
	}
	clients := make([]redis.UniversalClient, len(l.places))
	for i, p := range l.places {
		clients[i] = p.primary.direct
	}
	s, err := newStore(l.opt.Mode, clients, l.opt.Election, storeOptions(l.opt.Prefix, l.opt.GuardsOff, 0))
	if err != nil {
		return err
	}
	return s.Init(ctx)
}
