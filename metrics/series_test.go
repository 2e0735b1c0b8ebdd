package metrics_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/metrics"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// Everything is there before the first campaign, and nothing appears later, at a
// standby either: no alert waits for a series that comes with the first event.
func TestF02_AllSeriesFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := newCollector(t)
		before := scrape(t, c)
		list := strings.Join(slices.Sorted(maps.Keys(before)), "\n") + "\n"
		golden(t, "testdata/series.txt", list)
		for series, v := range before {
			if v != 0 && !strings.HasSuffix(series, "_seconds") {
				t.Errorf("%s is %v from the start", series, v)
			}
		}

		e := watched(m, c, "standby")
		ctx, cancel := contextOf(t)
		done := make(chan struct{})
		go func() { _, _ = e.Campaign(ctx); close(done) }()
		pass(ttl / 2)
		standing := scrape(t, c)
		if a, b := slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(standing)); !slices.Equal(a, b) {
			t.Errorf("series of a standby:\n%v\nnot\n%v", b, a)
		}
		standing.want(t, map[string]float64{"is_leader": 0, "token": 0, "terms_total": 0, "bids_total{outcome=held}": 1})

		pass(16 * time.Second) // the thief never renews its 15 s
		leading := scrape(t, c)
		if a, b := slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(leading)); !slices.Equal(a, b) {
			t.Errorf("series of a leader:\n%v\nnot\n%v", b, a)
		}
		leading.want(t, map[string]float64{"is_leader": 1, "terms_total": 1, "masters{state=confirmed}": 1, "masters_configured": 1})
		cancel()
		<-done
		closeAll(t, e)
	})
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		noErr(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	noErr(t, err)
	if got != string(want) {
		t.Errorf("not as in %s (-update rewrites it):\n%s", file, got)
	}
}

// Names, units and help texts are as Prometheus asks; many elections share a registry.
func TestLintAndManyElections(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	for i := range 3 {
		c, err := metrics.New(metrics.Options{Election: fmt.Sprint("election-", i), TTL: time.Duration(i+1) * time.Second})
		noErr(t, err)
		noErr(t, r.Register(c))
	}
	problems, err := testutil.GatherAndLint(r)
	noErr(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	n, err := testutil.GatherAndCount(r, "incumbent_is_leader")
	noErr(t, err)
	if n != 3 {
		t.Errorf("%d series of incumbent_is_leader, not one an election", n)
	}
	again, err := metrics.New(metrics.Options{Election: "election-0"})
	noErr(t, err)
	if r.Register(again) == nil {
		t.Error("two collectors of one election in one registry")
	}
}

func TestOptionsAreRefused(t *testing.T) {
	for what, o := range map[string]metrics.Options{
		"no name":          {},
		"negative TTL":     {Election: "e", TTL: -1},
		"slow renewals":    {Election: "e", TTL: time.Second, Renew: time.Second},
		"late step-down":   {Election: "e", TTL: time.Second, StepDown: time.Second},
		"negative masters": {Election: "e", Masters: -1},
	} {
		c, err := metrics.New(o)
		if err == nil || c != nil {
			t.Errorf("%s: accepted", what)
		}
		var bad *election.OptionError
		if what != "no name" && !errors.As(err, &bad) {
			t.Errorf("%s: %v names no option", what, err)
		}
	}
}

// The settings shown are the elector's, with its defaults.
func TestSettingsAreShown(t *testing.T) {
	c, err := metrics.New(metrics.Options{Election: name})
	noErr(t, err)
	scrape(t, c).want(t, map[string]float64{
		"ttl_seconds": 15, "max_ttl_seconds": 15, "renew_interval_seconds": 5, "step_down_seconds": 1.5, "renew_timeout_seconds": 3.75,
	})
	c, err = metrics.New(metrics.Options{Election: name, TTL: 10 * time.Second, MaxTTL: 20 * time.Second, Renew: time.Second, StepDown: 2 * time.Second, Masters: 5})
	noErr(t, err)
	scrape(t, c).want(t, map[string]float64{
		"ttl_seconds": 10, "max_ttl_seconds": 20, "renew_interval_seconds": 1, "step_down_seconds": 2, "renew_timeout_seconds": 2.5,
		"masters_configured": 5, "masters{state=confirmed}": 0, "masters{state=missing}": 0,
	})
}
