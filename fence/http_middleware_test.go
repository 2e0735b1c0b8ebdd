package fence_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"incumbent/election"
	"incumbent/fence"
)

// service is an HTTP service behind a Middleware, called without a network.
type service struct {
	fence.Middleware
	handler http.Handler
	acted   []string // methods that got through
	tokens  []election.Token
}

func newService(t *testing.T, guards map[string]fence.Acts, o fence.MiddlewareOptions) *service {
	t.Helper()
	m, err := fence.NewMiddleware(guards, o)
	check(t, err)
	s := &service{Middleware: *m}
	mux := http.NewServeMux()
	mux.Handle("/fence", s.RaiseHandler())
	mux.Handle("/", s.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.acted = append(s.acted, r.Method)
		token, _ := fence.TokenFromContext(r.Context(), "jobs")
		s.tokens = append(s.tokens, token)
		w.WriteHeader(http.StatusAccepted)
	})))
	s.handler = mux
	return s
}

// call sends a request with the given lines of the header.
func (s *service) call(ctx context.Context, method, path string, lines ...string) *http.Response {
	r := httptest.NewRequestWithContext(ctx, method, path, nil)
	for _, line := range lines {
		r.Header.Add(fence.Header, line)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w.Result()
}

// answer is the body of a refusal.
func answer(t *testing.T, resp *http.Response) (a struct {
	Error, Election string
	Token, Known    election.Token
}) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	check(t, err)
	if err := json.Unmarshal(text, &a); err != nil || a.Error == "" || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("body %q (%s): %v", text, resp.Header.Get("Content-Type"), err)
	}
	if strings.Contains(string(text), "evil") {
		t.Errorf("body %q repeats what was received", text)
	}
	return a
}

func TestNewMiddlewareRefuses(t *testing.T) {
	for _, guards := range []map[string]fence.Acts{nil, {}, {"": &fence.Memory{}}, {"jobs": nil}} {
		if m, err := fence.NewMiddleware(guards, fence.MiddlewareOptions{}); err == nil || m != nil {
			t.Errorf("%v: %v, %v", guards, m, err)
		}
	}
}

func TestMiddleware(t *testing.T) {
	for name, tt := range map[string]struct {
		lines  []string
		status int
		names  string // the election in the answer
	}{
		"no header":               {nil, 428, "jobs"},
		"another election":        {[]string{"other=9"}, 428, "jobs"},
		"one of two":              {[]string{"jobs=5"}, 428, "sync/eu"},
		"malformed":               {[]string{"jobs=5, sync%2Feu=3, evil"}, 400, ""},
		"two tokens":              {[]string{"jobs=5, sync%2Feu=3", "jobs=6"}, 400, ""},
		"zero":                    {[]string{"jobs=0, sync%2Feu=3"}, 400, ""},
		"too large":               {[]string{strings.Repeat("evil=1,", 2000)}, 431, ""},
		"lower":                   {[]string{"jobs=4, sync%2Feu=3"}, 409, "jobs"},
		"the second one is lower": {[]string{"jobs=5, sync%2Feu=2"}, 409, "sync/eu"},
		"equal":                   {[]string{"jobs=5, sync%2Feu=3"}, 202, ""},
		"higher, and others":      {[]string{"sync%2Feu=4, evil%20one=1", "jobs=6"}, 202, ""},
		"the same twice":          {[]string{"jobs=5, sync%2Feu=3", "jobs=5"}, 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			jobs, eu := &fence.Memory{}, &fence.Memory{}
			check(t, jobs.Raise(t.Context(), 5))
			check(t, eu.Raise(t.Context(), 3))
			s := newService(t, map[string]fence.Acts{"sync/eu": eu, "jobs": jobs}, fence.MiddlewareOptions{})
			resp := s.call(t.Context(), "PUT", "/", tt.lines...)
			defer resp.Body.Close()
			if resp.StatusCode != tt.status || len(s.acted) > 0 != (tt.status == 202) {
				t.Fatalf("status %d after %v acts, want %d", resp.StatusCode, s.acted, tt.status)
			}
			if tt.status == 202 {
				return
			}
			if a := answer(t, resp); a.Election != tt.names {
				t.Errorf("the answer names %q, want %q", a.Election, tt.names)
			}
			if tt.status != 409 && (jobs.Known() != 5 || eu.Known() != 3 || resp.Header.Get(fence.Header) != "") {
				t.Errorf("%d and %d are known, header %q", jobs.Known(), eu.Known(), resp.Header.Get(fence.Header))
			}
		})
	}
}

func TestMiddlewareSaysWhatIsKnown(t *testing.T) {
	m := &fence.Memory{}
	s := newService(t, map[string]fence.Acts{"sync/eu": m}, fence.MiddlewareOptions{})
	check(t, m.Raise(t.Context(), election.MaxToken))
	for _, path := range []string{"/", "/fence"} {
		resp := s.call(t.Context(), "POST", path, "sync%2Feu=7")
		defer resp.Body.Close()
		if got := resp.Header.Values(fence.Header); resp.StatusCode != 409 || !slices.Equal(got, []string{"sync%2Feu=9007199254740991"}) {
			t.Errorf("%s: %d, header %q", path, resp.StatusCode, got)
		}
		if a := answer(t, resp); a.Election != "sync/eu" || a.Token != 7 || a.Known != election.MaxToken {
			t.Errorf("%s: %+v", path, a)
		}
	}
}

func TestMiddlewareTokenless(t *testing.T) {
	m := &fence.Memory{}
	check(t, m.Raise(t.Context(), 5))
	s := newService(t, map[string]fence.Acts{"jobs": m}, fence.MiddlewareOptions{Tokenless: fence.Reads})
	for _, tt := range []struct {
		method string
		lines  []string
		status int
	}{
		{"GET", nil, 202}, {"HEAD", nil, 202}, {"OPTIONS", nil, 202},
		{"POST", nil, 428}, {"PUT", nil, 428}, {"DELETE", nil, 428}, {"PATCH", nil, 428}, {"TRACE", nil, 428}, {"get", nil, 428},
		{"GET", []string{"jobs=4"}, 409}, {"GET", []string{"jobs=5"}, 202}, {"GET", []string{"jobs"}, 400},
	} {
		resp := s.call(t.Context(), tt.method, "/", tt.lines...)
		resp.Body.Close()
		if resp.StatusCode != tt.status {
			t.Errorf("%s %q: %d, want %d", tt.method, tt.lines, resp.StatusCode, tt.status)
		}
	}
	if want := []election.Token{0, 0, 0, 5}; !slices.Equal(s.tokens, want) {
		t.Errorf("handlers saw tokens %v, want %v", s.tokens, want)
	}
}

func TestMiddlewareGap(t *testing.T) {
	m, value := &fence.Memory{}, ""
	mw, err := fence.NewMiddleware(map[string]fence.Acts{"jobs": m}, fence.MiddlewareOptions{})
	check(t, err)
	mux := http.NewServeMux()
	mux.Handle("POST /fence", mw.RaiseHandler())
	mux.Handle("PUT /value", mw.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		value = string(b)
	})))
	server := serve(t, mux)
	r := resource{
		guard: &fence.HTTPGuard{URL: server.URL + "/fence", Election: "jobs", Client: server.Client()},
		write: func(ctx context.Context, token election.Token, v string) error {
			c := http.Client{Transport: &fence.Transport{Base: server.Client().Transport, Election: "jobs", Token: token}}
			req, err := http.NewRequestWithContext(ctx, "PUT", server.URL+"/value", strings.NewReader(v))
			check(t, err)
			resp, err := c.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			return err
		},
		read: func() string { return value },
	}
	testGap(t, r)
	testInvalid(t, r)
}

// A Raise answers only after the handlers of lower tokens have returned; what
// comes in meanwhile is refused or waits.
func TestRaiseHandlerWaitsForHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fence.Memory{}
		s := newService(t, map[string]fence.Acts{"jobs": m}, fence.MiddlewareOptions{})
		act := begin(t.Context(), m, 5)
		status := func(path, line string) func() error {
			return func() error {
				resp := s.call(t.Context(), "POST", path, line)
				defer resp.Body.Close()
				if resp.StatusCode >= 400 {
					return errors.New(resp.Status)
				}
				return nil
			}
		}
		raise, raised := background(status("/fence", "jobs=6"))
		if raised() {
			t.Fatal("the raise was answered while a handler was at work")
		}
		write, written := background(status("/", "jobs=6"))
		if written() || len(s.acted) > 0 {
			t.Fatal("a handler of 6 ran beside one of 5")
		}
		if err := status("/", "jobs=5")(); err == nil {
			t.Error("5 was let in after 6 was seen")
		}
		act.finish(t)
		check(t, <-raise)
		check(t, <-write)

		act = begin(t.Context(), m, 6)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		resp := s.call(ctx, "POST", "/fence", "jobs=7")
		if a := answer(t, resp); resp.StatusCode != 503 || a.Election != "jobs" {
			t.Errorf("given up: %d, %+v", resp.StatusCode, a)
		}
		act.finish(t)
	})
}

func TestRaiseHandler(t *testing.T) {
	jobs, eu := &fence.Memory{}, &fence.Memory{}
	check(t, eu.Raise(t.Context(), 3))
	s := newService(t, map[string]fence.Acts{"jobs": jobs, "sync/eu": eu}, fence.MiddlewareOptions{Tokenless: fence.Reads})
	for _, tt := range []struct {
		method string
		lines  []string
		status int
		header []string
	}{
		{"POST", []string{"jobs=5"}, 204, []string{"jobs=5"}},
		{"POST", []string{"other=9, jobs=6, sync%2Feu=4"}, 204, []string{"jobs=6", "sync%2Feu=4"}},
		{"POST", []string{"jobs=7, sync%2Feu=3"}, 409, []string{"sync%2Feu=4"}},
		{"POST", nil, 428, nil}, {"POST", []string{"other=9"}, 428, nil}, {"POST", []string{"jobs"}, 400, nil},
		{"GET", nil, 405, nil}, {"PUT", []string{"jobs=99"}, 405, nil},
	} {
		resp := s.call(t.Context(), tt.method, "/fence", tt.lines...)
		resp.Body.Close()
		if resp.StatusCode != tt.status || !slices.Equal(resp.Header.Values(fence.Header), tt.header) {
			t.Errorf("%s %q: %d, header %q", tt.method, tt.lines, resp.StatusCode, resp.Header.Values(fence.Header))
		}
		if (tt.status == 405) != (resp.Header.Get("Allow") == "POST") {
			t.Errorf("%s: Allow is %q", tt.method, resp.Header.Get("Allow"))
		}
	}
	if len(s.acted) > 0 || jobs.Known() != 7 || eu.Known() != 4 {
		t.Errorf("acts %v, known %d and %d", s.acted, jobs.Known(), eu.Known())
	}
}

// acts is a guard as a user may write one.
type acts struct {
	fence.Guard
	do func(context.Context, func(context.Context) error) error
}

func (a acts) Do(ctx context.Context, _ election.Token, act func(context.Context) error) error {
	return a.do(ctx, act)
}

// Whatever a guard does, an act that did not happen for certain is never
// answered as a success.
func TestMiddlewareWithOtherGuards(t *testing.T) {
	failed := errors.New("evil detail of the inside")
	for name, tt := range map[string]struct {
		do     func(context.Context, func(context.Context) error) error
		status int // 0: the connection is cut
		acted  int
	}{
		"does":               {func(ctx context.Context, act func(context.Context) error) error { return act(ctx) }, 202, 1},
		"fails before":       {func(context.Context, func(context.Context) error) error { return failed }, 503, 0},
		"does nothing":       {func(context.Context, func(context.Context) error) error { return nil }, 503, 0},
		"fails to commit":    {func(ctx context.Context, act func(context.Context) error) error { _ = act(ctx); return failed }, 0, 1},
		"fenced, not by how": {func(context.Context, func(context.Context) error) error { return &election.FencedError{Token: 4} }, 409, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, map[string]fence.Acts{"jobs": acts{&fence.Memory{}, tt.do}}, fence.MiddlewareOptions{})
			var cut any
			resp := func() *http.Response {
				defer func() { cut = recover() }()
				return s.call(t.Context(), "POST", "/", "jobs=4")
			}()
			if err, _ := cut.(error); (tt.status == 0) != errors.Is(err, http.ErrAbortHandler) || len(s.acted) != tt.acted {
				t.Fatalf("panicked with %v after %d acts", cut, len(s.acted))
			}
			if tt.status == 0 {
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if tt.status == 409 && resp.Header.Get(fence.Header) != "jobs=5" {
				t.Errorf("header %q, want the least that must be known", resp.Header.Get(fence.Header))
			}
			if tt.status >= 400 {
				answer(t, resp)
			}
		})
	}
}

// The outer guard of two drops the error of the inner one.
func TestMiddlewareErrorThatIsDropped(t *testing.T) {
	inner := &fence.Memory{}
	check(t, inner.Raise(t.Context(), 9))
	drops := acts{&fence.Memory{}, func(ctx context.Context, act func(context.Context) error) error { _ = act(ctx); return nil }}
	s := newService(t, map[string]fence.Acts{"a": drops, "b": inner}, fence.MiddlewareOptions{})
	resp := s.call(t.Context(), "POST", "/", "a=1, b=8")
	if a := answer(t, resp); resp.StatusCode != 409 || a.Election != "b" || a.Known != 9 || len(s.acted) > 0 {
		t.Errorf("%d, %+v after %d acts", resp.StatusCode, a, len(s.acted))
	}
}

// Guards are always passed in the same order; else two requests could each hold
// one and wait for the other's for ever.
func TestMiddlewareKeepsAnOrder(t *testing.T) {
	var passed []string
	guards, line := map[string]fence.Acts{}, ""
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		guards[name] = acts{&fence.Memory{}, func(ctx context.Context, act func(context.Context) error) error {
			passed = append(passed, name)
			return act(ctx)
		}}
		line = fence.FormatToken(name, 1) + "," + line
	}
	for range 5 {
		passed = nil
		newService(t, guards, fence.MiddlewareOptions{}).call(t.Context(), "POST", "/", line).Body.Close()
		if !slices.IsSorted(passed) || len(passed) != 5 {
			t.Errorf("passed %v", passed)
		}
	}
}

func TestMiddlewareHandlerThatPanics(t *testing.T) {
	m := &fence.Memory{}
	mw, err := fence.NewMiddleware(map[string]fence.Acts{"jobs": m}, fence.MiddlewareOptions{})
	check(t, err)
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	r.Header.Set(fence.Header, "jobs=5")
	func() {
		defer func() {
			if recover() != "handler" {
				t.Error("the panic did not get through")
			}
		}()
		mw.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("handler") })).ServeHTTP(httptest.NewRecorder(), r)
	}()
	check(t, m.Raise(t.Context(), 6)) // would wait for ever
}
