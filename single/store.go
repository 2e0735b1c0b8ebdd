package single

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Options of a store. The zero value is usable. The fields:
//
//   - Prefix string: what all keys start with; "" means "incumbent". No braces.
//   - Timeout time.Duration: bounds each call to one master; 0 means 1 s. An
//     operation on a lease is bounded by a quarter of its TTL besides.
//   - Retention time.Duration: how long the record outlives the last lease; 0
//     means 30 days. It keeps tokens from going back: far longer than any TTL.
//   - GuardsOff election.StoreGuards: guards that are switched off; 0 means that
//     all are on.
//   - AssumeNew bool: a master that knows nothing of the election has no leader:
//     the first election ever does not wait. Init does the same once.
//   - ReplicaAcks int: grants and renewals count only when so many replicas have
//     acknowledged them; 0 means none.
//   - MaxTTL time.Duration: the longest TTL of any candidate, for Inspect in a process
//     that has not bid; 0 means that only the record tells.
//   - Logger *slog.Logger: gets warnings about servers; nil means slog.Default().
//   - Clock election.Clock: where elapsed time comes from; nil means
//     election.SystemClock.
type Options = vote.Options

// Store keeps the lease of one election on one Redis primary. It implements
// election.Store and is safe for concurrent use.
type Store struct {
	master *vote.Master
	back   vote.Background
	ping   vote.Pinger
}

// New makes a store for the named election on client, which may lead to one
// server, to a primary behind Sentinel, or to a Cluster. The client stays the
// caller's: close it after the elector. It may have any options; for our calls
// deadlines count and nothing is sent twice, whatever they say. Nothing is sent
// before first use.
func New(client redis.UniversalClient, name string, o Options) (*Store, error) {
	if client == nil {
		return nil, errors.New("single: no client")
	}
	o, err := o.WithDefaults()
	if err != nil {
		return nil, fmt.Errorf("single: %w", err)
	}
	keys, err := vote.NewKeys(o.Prefix, name)
	if err != nil {
		return nil, fmt.Errorf("single: %w", err)
	}
	s := &Store{master: vote.NewMaster(client, keys)}
	if err := o.Set(s.master); err != nil {
		return nil, fmt.Errorf("single: %w", err)
	}
	return s, nil
}

// Check looks at the server and says whether it can serve: reachable, new
// enough, scripts allowed. It writes nothing.
func (s *Store) Check(ctx context.Context) error {
	if err := s.master.Check(ctx); err != nil {
		return err
	}
	return s.master.Inspect(ctx).Err
}

// Acquire implements election.Store.
func (s *Store) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	s.ping.Note(b.TTL)
	ctx, cancel := vote.Within(ctx, vote.Bound(b.TTL), vote.TryTime)
	defer cancel()
	r, err := s.master.Acquire(ctx, b, s.master.New())
	switch {
	case vote.MayStand(err):
		// rare: bid-may-stand
		s.back.Go(func() { s.master.Undo(b.Value) })
		return election.Grant{}, err
	case err != nil:
		return election.Grant{}, err
	case r.Status == "granted":
		return election.Grant{Bid: b, Token: r.Token, Held: 1, Masters: 1}, nil
	}
	if r.Stands {
		s.back.Go(func() { s.master.Undo(b.Value) })
	}
	if r.Status == "guarded" {
		return election.Grant{}, &election.GuardError{Guards: r.Guards, Masters: []string{s.master.Name}, Left: r.Left, Last: r.Token}
	}
	return election.Grant{}, &election.HeldError{Holder: r.Holder, Left: r.Left, Last: r.Token}
}

// Init says that nobody can be leading this election, so that guards of the
// store need not wait: before the very first election, or after a deliberate
// wipe, when all candidates are stopped. It changes nothing else, may be called
// again, and refuses with a *election.HeldError while somebody holds the lease.
func (s *Store) Init(ctx context.Context) error { return s.master.Init(ctx) }

// Renew implements election.Store.
func (s *Store) Renew(ctx context.Context, g election.Grant) (election.Grant, error) {
	if try := vote.Bound(g.TTL); try < s.master.Timeout { // which bounds the one call as well
		short, cancel := vote.Within(ctx, try, vote.TryTime)
		defer cancel()
		ctx = short
	}
	r, err := s.master.Renew(ctx, g)
	if err == nil && r.Status != "renewed" {
		err = gone(r)
	}
	g.Asked = r.Asked
	return g, err
}

// Release implements election.Store.
func (s *Store) Release(ctx context.Context, g election.Grant) (election.Released, error) {
	r, err := s.master.Release(ctx, g.Value, g.Token)
	if err == nil && r.Status != "released" {
		err = gone(r)
	}
	return election.Released{Waiting: r.Waiting}, err
}

// gone says why the lease is not ours.
func gone(r vote.Reply) error {
	if r.Status == "taken" {
		return &election.TakenError{By: r.Holder}
	}
	return election.ErrExpired
}

// Inspect implements election.Store.
func (s *Store) Inspect(ctx context.Context) (election.State, error) {
	m := s.master.Inspect(ctx)
	return election.State{Leader: m.Holder, Last: m.Last, Masters: []election.MasterState{m}}, nil
}

// Released implements election.Store.
func (s *Store) Released(ctx context.Context) (<-chan struct{}, error) {
	hints := make(chan struct{}, 1)
	s.back.While(ctx, func() {
		s.master.Listen(ctx, s.ping.After(), func(vote.Wake) {
			select {
			case hints <- struct{}{}:
			default: // one hint waits already
			}
		})
	})
	return hints, nil
}

// Settle implements election.Store.
func (s *Store) Settle(ctx context.Context) error { return s.back.Settle(ctx) }
