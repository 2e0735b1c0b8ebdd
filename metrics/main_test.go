package metrics_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/metrics"
)

func TestMain(m *testing.M) {
	logging.Disable() // go-redis prints each failed dial
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

const (
	name = "bridge-health"
	ttl  = 3 * time.Second
)

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pass lets virtual time go by, until nothing more happens at the new time.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// newCollector makes one whose clock follows virtual time.
func newCollector(t *testing.T, change ...func(*metrics.Options)) *metrics.Collector {
	t.Helper()
	o := metrics.Options{Election: name, TTL: ttl, Clock: election.RuntimeClock()}
	for _, f := range change {
		f(&o)
	}
	c, err := metrics.New(o)
	noErr(t, err)
	return c
}

// watched makes an elector of m that c observes.
func watched(m *electiontest.Memory, c *metrics.Collector, id string) election.Elector {
	return m.Elector(election.Options{ID: id, TTL: ttl, Observer: c.Observe})
}

func closeAll(t *testing.T, all ...election.Elector) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, e := range all {
		noErr(t, e.Close(ctx))
	}
}

// A sample is all that a scrape shows, by name{label=value,...}, without the label of
// the election. Histograms show their count and sum.
type sample map[string]float64

func scrape(t *testing.T, c prometheus.Collector) sample {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	noErr(t, r.Register(c))
	families, err := r.Gather()
	noErr(t, err)
	return flatten(families)
}

func flatten(families []*dto.MetricFamily) sample {
	out := sample{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			out.add(f.GetName(), m)
		}
	}
	return out
}

func (s sample) add(series string, m *dto.Metric) {
	var labels []string
	for _, l := range m.GetLabel() {
		if l.GetName() != "election" {
			labels = append(labels, l.GetName()+"="+l.GetValue())
		}
	}
	suffix := ""
	if labels != nil {
		suffix = "{" + strings.Join(labels, ",") + "}"
	}
	switch {
	case m.Histogram != nil:
		s[series+"_count"+suffix] = float64(m.GetHistogram().GetSampleCount())
		s[series+"_sum"+suffix] = m.GetHistogram().GetSampleSum()
	case m.Counter != nil:
		s[series+suffix] = m.GetCounter().GetValue()
	default:
		s[series+suffix] = m.GetGauge().GetValue()
	}
}

// want compares some series of a scrape, whose names are without the prefix.
func (s sample) want(t *testing.T, want map[string]float64) {
	t.Helper()
	for series, v := range want {
		if got, ok := s["incumbent_"+series]; !ok || got != v {
			t.Errorf("%s is %v (there: %v), not %v", series, got, ok, v)
		}
	}
}

// showsLeader reads incumbent_is_leader alone: a whole scrape costs many times more.
func showsLeader(t *testing.T, c prometheus.Collector) bool {
	t.Helper()
	all := make(chan prometheus.Metric, 1000)
	c.Collect(all)
	close(all)
	for m := range all {
		if strings.Contains(m.Desc().String(), `"incumbent_is_leader"`) {
			var d dto.Metric
			noErr(t, m.Write(&d))
			return d.GetGauge().GetValue() == 1
		}
	}
	t.Fatal("no incumbent_is_leader")
	return false
}
