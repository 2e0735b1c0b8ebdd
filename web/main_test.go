package web_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/web"
)

func TestMain(m *testing.M) {
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

// A candidate is a handler with the elector that it observes.
type candidate struct {
	*web.Handler
	e    election.Elector
	stop context.CancelFunc
	done chan error
}

func newCandidate(m *electiontest.Memory, id string) *candidate {
	h := web.New(web.Options{Election: name, ID: id, Clock: election.RuntimeClock()})
	return &candidate{Handler: h, e: m.Elector(election.Options{ID: id, TTL: ttl, Observer: h.Observe})}
}

// run does work whenever it leads, until stop is called.
func (c *candidate) run(work func(context.Context, *election.Term) error) {
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	c.done = make(chan error, 1)
	go func() { c.done <- election.Run(ctx, c.e, work) }()
	synctest.Wait()
}

func obedient(ctx context.Context, _ *election.Term) error { <-ctx.Done(); return ctx.Err() }

func (c *candidate) close(t *testing.T) {
	t.Helper()
	if c.stop != nil {
		c.stop()
		noErr(t, <-c.done)
	}
	noErr(t, c.e.Close(context.Background()))
	synctest.Wait()
}

func get(h http.Handler, path string) *httptest.ResponseRecorder { return ask(h, http.MethodGet, path) }

func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequest(method, path, nil))
	return r
}

// codes are the answers of /leader, /livez and /readyz.
type codes struct{ leader, livez, readyz int }

const (
	ok = http.StatusOK
	no = http.StatusServiceUnavailable
)

func (c codes) of(t *testing.T, h http.Handler, when string) {
	t.Helper()
	got := codes{get(h, "/leader").Code, get(h, "/livez").Code, get(h, "/readyz").Code}
	if got != c {
		t.Errorf("%s: leader, livez, readyz are %v, not %v", when, got, c)
	}
}

func status(t *testing.T, h http.Handler) web.Status {
	t.Helper()
	var s web.Status
	noErr(t, json.Unmarshal(get(h, "/leader").Body.Bytes(), &s))
	return s
}
