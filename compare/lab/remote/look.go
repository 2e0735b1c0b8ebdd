package remote

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"incumbent/config"
	"incumbent/election"
)

// Open makes the connections that the set's own questions use. What no waiting cures
// is an error then, as config.Config.Open says it. Close ends them in any case.
func (s *Set) Open(ctx context.Context) error {
	for _, t := range s.targets {
		var err error
		if t.client, err = t.cfg.Open(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all connections. It may be called more than once.
func (s *Set) Close() error {
	var errs []error
	for _, t := range s.targets {
		if t.client != nil {
			errs = append(errs, t.client.Close())
		}
	}
	return errors.Join(errs...)
}

// An Endpoint is what a look at a master showed.
type Endpoint struct {
	// Mode is single or quorum, Name the master's.
	Mode, Name string
	// Role and Version are the server's words; "" if it hides them.
	Role, Version string
	// RTT is the median of a few PINGs.
	RTT time.Duration
	// Err is why it does not serve; nil if it does.
	Err error
}

// A Look is what all masters showed before anything is written.
type Look struct {
	Endpoints []Endpoint
	// Err joins all that is wrong, in order of the endpoints; nil where nothing is.
	Err error
}

// Unreachable reports whether all that is wrong is that masters do not answer, or not
// yet: nothing about it says that the configuration is wrong.
func (l Look) Unreachable() bool { return l.Err != nil && Passing(l.Err) }

// passing are kinds of failure that may go by.
var passing = []error{election.ErrUnreachable, election.ErrLoading, election.ErrBusy, election.ErrClusterDown}

// Passing reports whether all that was joined in err may go by, such as a server that does
// not answer or is loading. A password or certificate that is refused, missing permissions
// and a replica in place of a primary are not of that kind: somebody must do something.
func Passing(err error) bool {
	for _, e := range parts(err) {
		if !slices.ContainsFunc(passing, func(kind error) bool { return errors.Is(e, kind) }) {
			return false
		}
	}
	return true
}

// parts are the errors that were joined, at whatever depth. What a master's error wraps
// is none of them.
func parts(err error) (list []error) {
	var many interface{ Unwrap() []error }
	var one *election.MasterError
	isMany := errors.As(err, &many)
	if !isMany || errors.As(err, &one) && any(one) == any(many) {
		return []error{err}
	}
	for _, e := range many.Unwrap() {
		list = append(list, parts(e)...)
	}
	return list
}

const lookPings = 20

// Look asks all masters who they are and whether they can serve the named election,
// and how far away they are. It writes nothing. ctx and a few timeouts bound it.
func (s *Set) Look(ctx context.Context, name string) (Look, error) {
	var l Look
	var errs []error
	for _, t := range s.targets {
		list, err := t.look(ctx, name)
		if err != nil {
			return Look{}, err
		}
		if err := t.client.Check(ctx, name); err != nil {
			errs = append(errs, err)
			blame(list, err)
		}
		l.Endpoints = append(l.Endpoints, list...)
	}
	l.Err = errors.Join(errs...)
	return l, nil
}

// look is Look at one mode's masters, without what is wrong with them.
func (t *target) look(ctx context.Context, name string) ([]Endpoint, error) {
	store, err := t.client.Store(name)
	if err != nil {
		return nil, err
	}
	state, err := store.Inspect(ctx)
	if err != nil {
		return nil, err
	}
	var list []Endpoint
	for _, m := range state.Masters {
		list = append(list, Endpoint{Mode: string(t.mode), Name: m.Name, Role: m.Role, Version: m.Version, Err: m.Err})
	}
	var wg sync.WaitGroup
	for i, server := range t.client.Servers() {
		wg.Go(func() {
			if list[i].Err == nil {
				list[i].RTT = rttOf(pings(ctx, server, lookPings, 0)).p(0.5)
			}
		})
	}
	wg.Wait()
	return list, nil
}

// blame says of each endpoint what is wrong with it, as far as it is named.
func blame(list []Endpoint, err error) {
	for _, e := range parts(err) {
		var m *election.MasterError
		for i := range list {
			if errors.As(e, &m) && m.Master == list[i].Name {
				list[i].Err = e
			}
		}
	}
}

// pings measures PINGs, one after another, every so often or without a pause for 0. It
// ends early when ctx does. A PING that fails is not counted.
func pings(ctx context.Context, s config.Server, n int, every time.Duration) (took []time.Duration) {
	for range n {
		begin := time.Now()
		if err := s.Client.Ping(ctx).Err(); err == nil {
			took = append(took, time.Since(begin))
		}
		if !pause(ctx, begin.Add(every)) {
			return took
		}
	}
	return took
}

// pause waits until then; false when ctx ended first.
func pause(ctx context.Context, until time.Time) bool {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
