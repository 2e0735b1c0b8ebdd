package metrics_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/redis/go-redis/v9"

	"incumbent/config"
	"incumbent/election"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/metrics"
	"incumbent/web"
)

// realTTL leaves time to renew on a busy machine.
const realTTL = 2 * time.Second

// A service is what embeds both: a candidate on a real server, through a network of its
// own, with its endpoints.
type service struct {
	proxy  *blackhole.Proxy
	client *config.Client
	e      election.Elector
	c      *metrics.Collector
	h      *web.Handler
	url    string
	terms  atomic.Int64
}

func startService(t *testing.T, ctx context.Context, server, id string) *service {
	t.Helper()
	s := &service{}
	var err error
	s.proxy, err = blackhole.New(server)
	noErr(t, err)
	t.Cleanup(func() { noErr(t, s.proxy.Close()) })
	cfg := config.Default()
	cfg.Mode, cfg.Single.Address, cfg.TTL, cfg.ID = config.ModeSingle, s.proxy.Addr(), realTTL, id
	s.client, err = cfg.Open(ctx)
	noErr(t, err)
	s.c, err = metrics.New(metrics.Options{Election: name, TTL: cfg.TTL, Masters: 1, Commands: s.client.Commands})
	noErr(t, err)
	r := prometheus.NewRegistry()
	noErr(t, r.Register(s.c))
	s.h = web.New(web.Options{Election: name, ID: id, Metrics: promhttp.HandlerFor(r, promhttp.HandlerOpts{})})
	s.e, err = s.client.Elector(name, func(o *election.Options) { o.Observer = metrics.Observers(s.c.Observe, s.h.Observe) })
	noErr(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	s.url = "http://" + l.Addr().String() + "/metrics"
	sctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- s.h.Serve(sctx, l) }()
	t.Cleanup(func() {
		s.proxy.Heal()
		noErr(t, s.client.Close())
		stop()
		noErr(t, <-served)
	})
	return s
}

// lead leads again and again, for a short while each time. Now and then its network is
// cut instead, until the term is over.
func (s *service) lead(ctx context.Context, random *rand.Rand) {
	for {
		term, err := s.e.Campaign(ctx)
		if err != nil {
			return
		}
		s.terms.Add(1)
		d := time.Duration(random.Int64N(int64(100 * time.Millisecond)))
		if random.IntN(25) == 0 {
			s.proxy.Cut()
			d = realTTL
		}
		select {
		case <-time.After(d):
		case <-term.Context().Done():
		case <-ctx.Done():
		}
		s.proxy.Heal()
		rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), realTTL)
		_ = term.Resign(rctx) // after a cut there may be nothing left to give back
		cancel()
	}
}

// shown is what a scrape says.
type shown struct {
	leader bool
	token  float64
}

func (s *service) scrape(t *testing.T, client *http.Client) shown {
	t.Helper()
	got := s.sample(t, client)
	return shown{got["incumbent_is_leader"] == 1, got["incumbent_token"]}
}

func (s *service) sample(t *testing.T, client *http.Client) sample {
	t.Helper()
	res, err := client.Get(s.url)
	noErr(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	noErr(t, err)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(body)))
	noErr(t, err)
	return flatten(slices.Collect(maps.Values(families)))
}

// Scraped over HTTP every 50 ms through 100 hand-overs on a real server.
//
// Two scrapes are never of the same instant. So if A said 1 and then B said 1, that
// may be a hand-over in between. But a term never comes back: if A is asked once more,
// and still says 1 with the same token, then it led all the time in between, and so
// also when B said 1. Only that counts as two leaders; how often a naive sum of one
// round of scrapes was 2 is logged.
func TestSumOfLeadersIsNeverTwoOverHTTP(t *testing.T) {
	server := redistest.StartT(t, redisproc.Options{})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var services []*service
	for i := range 3 {
		services = append(services, startService(t, ctx, server.Addr(), fmt.Sprint("candidate-", i)))
	}
	noErr(t, services[0].client.Init(ctx, name))
	var leading sync.WaitGroup
	for i, s := range services {
		leading.Go(func() { s.lead(ctx, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	defer leading.Wait()
	defer cancel()

	client := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	const wanted = 100
	rounds, naive, ones := 0, 0, 0
	phase := rand.New(rand.NewPCG(seed, 100))
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for total(services) <= wanted && ctx.Err() == nil {
		<-tick.C
		rounds++
		var saying []*service
		var first []shown
		for _, s := range services {
			time.Sleep(time.Duration(phase.Int64N(int64(20 * time.Millisecond)))) // as scrapers are apart
			if x := s.scrape(t, client); x.leader {
				saying, first = append(saying, s), append(first, x)
			}
		}
		ones += min(1, len(saying))
		if len(saying) < 2 {
			continue
		}
		naive++
		for i, s := range saying[:len(saying)-1] {
			if again := s.scrape(t, client); again == first[i] {
				t.Fatalf("two lead at one instant: token %v from before until after token %v was shown", again.token, first[len(first)-1].token)
			}
		}
	}
	t.Logf("%d terms, %d rounds of scrapes, of which %d showed a leader, and %d two of different instants",
		total(services), rounds, ones, naive)
	if total(services) <= wanted || ones == 0 {
		t.Errorf("only %d terms in time, %d scrapes that showed one", total(services), ones)
	}
}

func total(services []*service) (n int64) {
	for _, s := range services {
		n += s.terms.Load()
	}
	return n
}

// A server that has forgotten the scripts answers NOSCRIPT, and is sent them again: that
// is no failed renewal.
func TestF12_UnknownScriptIsNoError(t *testing.T) {
	server := redistest.StartT(t, redisproc.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := startService(t, ctx, server.Addr(), "me")
	noErr(t, s.client.Init(ctx, name))
	admin := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { noErr(t, admin.Close()) }()
	noErr(t, admin.ScriptFlush(ctx).Err())
	term, err := s.e.Campaign(ctx)
	noErr(t, err)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	const renewals = "incumbent_renew_duration_seconds_count"
	for flushed := 0.0; flushed < 3; flushed++ {
		noErr(t, admin.ScriptFlush(ctx).Err())
		for s.sample(t, client)[renewals] <= flushed {
			if ctx.Err() != nil || !term.Valid() {
				t.Fatalf("no renewal: %v", term.Loss())
			}
			time.Sleep(realTTL / 100)
		}
	}
	got := s.sample(t, client)
	for series, v := range got {
		if strings.HasPrefix(series, "incumbent_renew_errors_total") && v != 0 {
			t.Errorf("%s is %v", series, v)
		}
	}
	if n := got["incumbent_store_commands_total{role=leader}"]; n < 3 {
		t.Errorf("%v commands while leading", n)
	}
	got.want(t, map[string]float64{"is_leader": 1, "masters{state=confirmed}": 1, "masters{state=missing}": 0})
	noErr(t, term.Resign(ctx))
}
