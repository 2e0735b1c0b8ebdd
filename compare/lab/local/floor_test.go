package local_test

import (
	"testing"
	"time"

	"incumbent/compare/lab/local"
)

// TestExpiry asks when the lease has run out: of a majority, whoever is silent.
func TestExpiry(t *testing.T) {
	l, ctx := open(t, local.Options{Mode: "quorum", Candidates: 1})
	if _, _, err := l.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	left := func() (time.Duration, error) {
		now := local.Now()
		at, err := l.Expiry(ctx)
		return at - now, err
	}
	ttl := l.Options().TTL
	for silent := range 2 {
		if d, err := left(); err != nil || d <= 0 || d > ttl+ttl/4 {
			t.Errorf("%d of 3 masters silent: lease has another %v, %v; TTL %v", silent, d, err, ttl)
		}
		if err := l.Servers()[silent].Pause(); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := left(); err == nil {
		t.Errorf("2 of 3 masters silent: lease has another %v, want an error", d)
	}
}
