package metrics

import (
	"context"
	"errors"

	"incumbent/election"
)

// What a resource refused, as the label op of incumbent_fenced_acts_total.
const (
	opAct   = "act"
	opRaise = "raise"
)

// Fenced counts err as a refused act if it is a *election.FencedError or wraps one, and
// returns it as it is: pass the errors of guarded acts through it.
//
//	return m.Fenced(guard.Set(ctx, t.Token(), "key", value, 0))
func (c *Collector) Fenced(err error) error { return c.fenced(err, opAct) }

func (c *Collector) fenced(err error, op string) error {
	if f := (*election.FencedError)(nil); errors.As(err, &f) {
		c.fencedActs.WithLabelValues(op).Inc()
	}
	return err
}

// Guard is g, with raises that it refuses counted: for election.Run.
func (c *Collector) Guard(g election.Guard) election.Guard { return guard{g, c} }

type guard struct {
	election.Guard
	c *Collector
}

// Raise implements election.Guard.
func (g guard) Raise(ctx context.Context, t election.Token) error {
	return g.c.fenced(g.Guard.Raise(ctx, t), opRaise)
}

// Acts is fence.Acts: a guard whose acts are Go functions.
type Acts interface {
	election.Guard
	Do(ctx context.Context, t election.Token, act func(context.Context) error) error
}

// Acts is a, with acts and raises that it refuses counted: for fence.NewMiddleware, at
// the service that refuses.
func (c *Collector) Acts(a Acts) Acts { return acts{guard{a, c}, a, c} }

type acts struct {
	guard
	a Acts
	c *Collector
}

// Do implements Acts.
func (a acts) Do(ctx context.Context, t election.Token, act func(context.Context) error) error {
	return a.c.Fenced(a.a.Do(ctx, t, act))
}
