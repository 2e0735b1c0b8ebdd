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
func newStore(mode string, clients []redis.UniversalClient, name, prefix string) (store, error) {
	if mode == "single" {
		return single.New(clients[0], name, single.Options{Prefix: prefix})
	}
	return quorum.New(clients, name, quorum.Options{Prefix: prefix})
}

// init says that nobody can be leading yet: the servers have only just started,
// and the first election would wait for their guards.
func (l *Lab) init(ctx context.Context) error {
	clients := make([]redis.UniversalClient, len(l.direct))
	for i, c := range l.direct {
		clients[i] = c
	}
	s, err := newStore(l.opt.Mode, clients, l.opt.Election, l.opt.Prefix)
	if err != nil {
		return err
	}
	return s.Init(ctx)
}
