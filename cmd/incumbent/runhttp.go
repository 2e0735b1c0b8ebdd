package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"incumbent/config"
	"incumbent/election"
	"incumbent/metrics"
	"incumbent/web"
)

// runHTTP is what --http shows; without the flag, nothing.
type runHTTP struct {
	handler *web.Handler // nil without --http
	metrics *metrics.Collector
	client  atomic.Pointer[config.Client]

	end    context.CancelFunc
	served sync.WaitGroup
}

// listen answers from now on, before the first campaign: a standby shows all.
func (r *runner) listen() (*runHTTP, error) {
	h := &runHTTP{end: func() {}}
	if r.k.http == "" {
		return h, nil
	}
	l, err := net.Listen("tcp", r.k.http)
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	if err := h.build(r); err != nil {
		_ = l.Close() // nobody has connected
		return nil, err
	}
	r.log.Info("answering HTTP", "url", "http://"+l.Addr().String())
	var ctx context.Context
	ctx, h.end = context.WithCancel(context.Background())
	h.served.Go(func() {
		if err := h.handler.Serve(ctx, l); err != nil {
			r.log.Error("HTTP is not answered any more", "error", err)
		}
	})
	return h, nil
}

func (h *runHTTP) build(r *runner) (err error) {
	cfg, masters := r.cfg, 0 // learnt from the first term
	switch cfg.Mode {
	case config.ModeSingle:
		masters = 1
	case config.ModeQuorum:
		masters = len(cfg.Quorum.Masters)
	}
	h.metrics, err = metrics.New(metrics.Options{
		Election: r.k.election, TTL: cfg.TTL, MaxTTL: cfg.MaxTTL, Renew: cfg.Renew, StepDown: cfg.StepDown,
		Masters: masters, Commands: h.commands,
	})
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{h.metrics, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	h.handler = web.New(web.Options{
		Election: r.k.election, ID: cfg.ID, Metadata: cfg.Metadata, Logger: r.log, ShutdownTimeout: closing,
		Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
	})
	return nil
}

// commands is how many the client has sent, once there is one.
func (h *runHTTP) commands() uint64 {
	if c := h.client.Load(); c != nil {
		return c.Commands()
	}
	return 0
}

// observers is first, followed by those that show what happens.
func (h *runHTTP) observers(first func(election.Event)) func(election.Event) {
	if h.handler == nil {
		return first
	}
	return metrics.Observers(first, h.metrics.Observe, h.handler.Observe)
}

// shuttingDown makes this process unready.
func (h *runHTTP) shuttingDown() {
	if h.handler != nil {
		h.handler.ShuttingDown()
	}
}

// stopped says that nothing campaigns any more. Where that is meant, a liveness probe in
// the last moment need not fail.
func (h *runHTTP) stopped(err error) {
	for _, meant := range []error{errRunDone, errRunLost, errRunNotAcquired} {
		if errors.Is(err, meant) {
			h.shuttingDown()
		}
	}
	if h.handler != nil {
		h.handler.Stopped(err)
	}
}

// close ends the endpoints. It takes no longer than closing, whoever is connected.
func (h *runHTTP) close() {
	h.end()
	h.served.Wait()
}
