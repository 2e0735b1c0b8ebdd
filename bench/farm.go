package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"incumbent/internal/redisproc"
)

// farm is the servers of a run.
type farm struct {
	endpoints []endpoint
	started   []*redisproc.Server
}

// openFarm takes the servers that are given, or starts n. Close it.
func openFarm(ctx context.Context, o Options, n int) (*farm, error) {
	if len(o.Servers) > 0 {
		endpoints, err := parseEndpoints(o.Servers)
		if err != nil {
			return nil, err
		}
		return &farm{endpoints: endpoints[:n]}, nil
	}
	f := &farm{started: make([]*redisproc.Server, n)}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f.started[i], errs[i] = redisproc.Start(ctx, redisproc.Options{Binary: o.ServerBin}) })
	}
	wg.Wait()
	if err := first(errs); err != nil {
		return nil, errors.Join(err, cleaned(f.close()))
	}
	for _, s := range f.started {
		e, err := parseEndpoint(s.Addr())
		if err != nil {
			return nil, errors.Join(err, cleaned(f.close()))
		}
		f.endpoints = append(f.endpoints, e)
	}
	return f, nil
}

// close ends the servers that were started.
func (f *farm) close() error {
	var errs []error
	for _, s := range f.started {
		if s != nil {
			errs = append(errs, s.Stop())
		}
	}
	return errors.Join(errs...)
}

// first is the first error: what ends one start ends all, in the same words.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("start servers: %w", err)
		}
	}
	return nil
}
