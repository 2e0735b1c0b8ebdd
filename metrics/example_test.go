package metrics_test

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"incumbent/config"
	"incumbent/election"
	"incumbent/fence"
	"incumbent/metrics"
	"incumbent/web"
)

// A service with metrics and endpoints of its candidate on its own server. The metrics
// are there before the first campaign.
func Example() {
	ctx := context.Background()
	cfg, err := config.Load("incumbent.yaml")
	if err != nil {
		log.Fatal(err)
	}
	client, err := cfg.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()

	m, err := metrics.New(metrics.Options{
		Election: "bridge-health", Commands: client.Commands,
		TTL: cfg.TTL, MaxTTL: cfg.MaxTTL, Renew: cfg.Renew, StepDown: cfg.StepDown,
	})
	if err != nil {
		log.Fatal(err)
	}
	prometheus.MustRegister(m)
	h := web.New(web.Options{Election: "bridge-health", ID: cfg.ID, Metrics: promhttp.Handler()})
	http.Handle("/election/", http.StripPrefix("/election", h)) // /election/leader, ...

	e, err := client.Elector("bridge-health", func(o *election.Options) {
		o.Observer = metrics.Observers(m.Observe, h.Observe)
	})
	if err != nil {
		log.Fatal(err)
	}
	err = election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		log.Print("leading with token ", t.Token())
		<-ctx.Done()
		return ctx.Err()
	})
	h.Stopped(err)
}

// What a guard refuses is counted where it is refused.
func ExampleCollector_Fenced() {
	m, err := metrics.New(metrics.Options{Election: "bridge-health"})
	if err != nil {
		log.Fatal(err)
	}
	guard, err := fence.NewSQL(&sql.DB{}, fence.Postgres, "bridge-health", fence.SQLOptions{})
	if err != nil {
		log.Fatal(err)
	}
	work := func(ctx context.Context, t *election.Term) error {
		return m.Fenced(guard.Do(ctx, t.Token(), nil, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE bridges SET checked = now()")
			return err
		}))
	}
	run := func(ctx context.Context, e election.Elector) error {
		return election.Run(ctx, e, work, m.Guard(guard)) // raises that are refused count, too
	}
	_ = run

	// An error passes through unchanged.
	stale := m.Fenced(&election.FencedError{Resource: "incumbent_fence", Token: 41, Known: 42})
	log.Print(errors.Is(stale, election.ErrFenced))
}
