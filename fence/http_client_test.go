package fence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/fence"
)

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// base is a RoundTripper that notes what it gets, and answers or fails.
type base struct {
	status int
	lines  []string // of the header
	body   *body
	err    error
	got    []*http.Request
}

func (b *base) RoundTrip(r *http.Request) (*http.Response, error) {
	b.got = append(b.got, r)
	if r.Body != nil {
		r.Body.Close()
	}
	if b.err != nil {
		return nil, b.err
	}
	return &http.Response{StatusCode: b.status, Header: header(b.lines...), Body: b.body, Request: r}, nil
}

// body notes that it was closed.
type body struct {
	io.Reader
	closed int
}

func (b *body) Close() error { b.closed++; return nil }

func text(s string) *body { return &body{Reader: strings.NewReader(s)} }

// trip sends a request and returns what can be read of the answer.
func trip(t *testing.T, tr http.RoundTripper, r *http.Request) (answer string, err error) {
	t.Helper()
	resp, err := tr.RoundTrip(r)
	if resp == nil {
		return "", err
	}
	defer resp.Body.Close()
	if err != nil {
		t.Errorf("an answer together with the error %v", err)
	}
	all, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(all)), err
}

func TestTransport(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		lines  []string
		known  election.Token // 0: the answer passes
	}{
		"done":                       {200, nil, 0},
		"done, with a header":        {200, []string{"jobs=9"}, 0},
		"fenced":                     {409, []string{"jobs=9"}, 9},
		"fenced among others":        {409, []string{"other=99", "x=1, jobs=8"}, 8},
		"conflict without header":    {409, nil, 0},
		"of another election":        {409, []string{"other=99"}, 0},
		"not higher":                 {409, []string{"jobs=7"}, 0},
		"lower":                      {409, []string{"jobs=6"}, 0},
		"malformed":                  {409, []string{"jobs=9,"}, 9},
		"malformed indeed":           {409, []string{"jobs=9, jobs=10"}, 0},
		"precondition":               {428, []string{"jobs=9"}, 0},
		"conflict, header too large": {409, []string{"jobs=9", strings.Repeat(" ", 9000)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, sent := text("answer"), text("question")
			b := &base{status: tt.status, lines: tt.lines, body: got}
			tr := &fence.Transport{Base: b, Election: "jobs", Token: 7}
			req := httptest.NewRequestWithContext(t.Context(), "PUT", "http://user:secret@host/path?secret=1", sent)
			req.Header.Set(fence.Header, "other=1")
			before := req.Header.Clone()
			answer, err := trip(t, tr, req)
			if got.closed != 1 {
				t.Errorf("the answer's body was closed %d times", got.closed)
			}
			if tt.known > 0 {
				wantFenced(t, err, 7, tt.known)
				if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "http://host/path") {
					t.Errorf("the error has a secret or no resource: %v", err)
				}
			} else if want := fmt.Sprint(tt.status, " answer"); err != nil || answer != want {
				t.Errorf("%q, %v: the answer did not pass untouched", answer, err)
			}
			if h := b.got[0].Header.Values(fence.Header); strings.Join(h, ", ") != "other=1, jobs=7" {
				t.Errorf("sent %q", h)
			}
			if b.got[0] == req || len(req.Header[fence.Header]) != len(before[fence.Header]) {
				t.Error("the caller's request was changed")
			}
		})
	}
}

func TestTransportErrors(t *testing.T) {
	failed := errors.New("failed")
	b := &base{err: failed}
	for name, tt := range map[string]struct {
		tr   fence.Transport
		want error
		sent int
	}{
		"the network":   {fence.Transport{Base: b, Election: "jobs", Token: 7}, failed, 1},
		"no election":   {fence.Transport{Base: b, Token: 7}, nil, 0},
		"no token":      {fence.Transport{Base: b, Election: "jobs"}, fence.ErrInvalidToken, 0},
		"a token above": {fence.Transport{Base: b, Election: "jobs", Token: election.MaxToken + 1}, fence.ErrInvalidToken, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b.got = nil
			sent := text("question")
			_, err := trip(t, &tt.tr, httptest.NewRequestWithContext(t.Context(), "PUT", "http://host/", sent))
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if len(b.got) != tt.sent || sent.closed != 1 {
				t.Errorf("sent %d requests, body closed %d times", len(b.got), sent.closed)
			}
		})
	}
	// Without a header map or a body, as only a RoundTripper's direct caller does.
	req := &http.Request{Method: "GET", URL: httptest.NewRequestWithContext(t.Context(), "GET", "http://host/", nil).URL}
	tr := &fence.Transport{Base: b, Election: "jobs", Token: 7}
	if _, err := trip(t, tr, req); !errors.Is(err, failed) || req.Header != nil {
		t.Errorf("got %v", err)
	}
}

// lead gives the only candidate's next term.
func lead(t *testing.T, e election.Elector) *election.Term {
	t.Helper()
	term, err := e.Campaign(t.Context())
	check(t, err)
	return term
}

func quiet(id string) election.Options {
	return election.Options{ID: id, Logger: slog.New(slog.DiscardHandler)}
}

// closeAt closes the elector at the end of a bubble.
func closeAt(t *testing.T, e election.Elector) {
	t.Helper()
	check(t, e.Close(context.WithoutCancel(t.Context())))
}

func TestTransportOfATerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := electiontest.NewMemory()
		e := store.Elector(quiet("me"))
		defer closeAt(t, e)
		term := lead(t, e)
		b := &base{status: 200, body: text("")}
		tr := fence.NewTransport(b, "jobs", term)
		send := func() error {
			sent := text("question")
			_, err := trip(t, tr, httptest.NewRequestWithContext(t.Context(), "PUT", "http://host/", sent))
			if sent.closed != 1 {
				t.Errorf("the request's body was closed %d times", sent.closed)
			}
			return err
		}
		check(t, send())
		if h := b.got[0].Header.Get(fence.Header); h != fence.FormatToken("jobs", term.Token()) {
			t.Errorf("sent %q", h)
		}

		b.status, b.lines = 409, []string{"jobs=500"}
		wantFenced(t, send(), term.Token(), 500)
		if term.Valid() || !errors.Is(term.Loss(), election.ErrFenced) {
			t.Errorf("the term goes on: %v", term.Loss())
		}
		b.got = nil
		err := send()
		var over *fence.TermOverError
		if !errors.As(err, &over) || !errors.Is(err, election.ErrFenced) || over.Token != term.Token() || over.Election != "jobs" || len(b.got) > 0 ||
			!strings.Contains(err.Error(), `election "jobs": nothing was sent`) {
			t.Errorf("after the term: %v, %d requests sent", err, len(b.got))
		}
		if next := lead(t, e); next.Token() != 501 {
			t.Errorf("the next term has token %d", next.Token())
		}
	})
}

// A term that lapsed while its process was asleep sends nothing, before any
// timer had its turn.
func TestTransportOfALapsedTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := electiontest.NewMemory()
		e := store.Elector(quiet("me"))
		defer closeAt(t, e)
		term := lead(t, e)
		b := &base{status: 200, body: text("")}
		store.Unreachable(true)
		time.Sleep(time.Minute)
		_, err := trip(t, fence.NewTransport(b, "jobs", term), httptest.NewRequestWithContext(t.Context(), "GET", "http://host/", nil))
		if !errors.Is(err, election.ErrLostContact) || len(b.got) > 0 {
			t.Errorf("got %v, %d requests sent", err, len(b.got))
		}
		store.Unreachable(false)
	})
}

// Two transports, one around the other, carry two tokens; the one that is fenced
// says so through http.Client.
func TestTransportsOfTwoElections(t *testing.T) {
	one, two := &fence.Memory{}, &fence.Memory{}
	mw, err := fence.NewMiddleware(map[string]fence.Acts{"one": one, "two": two}, fence.MiddlewareOptions{})
	check(t, err)
	server := serve(t, mw.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	c := http.Client{Transport: &fence.Transport{
		Base:     &fence.Transport{Base: server.Client().Transport, Election: "two", Token: 2},
		Election: "one", Token: 1,
	}}
	resp, err := c.Get(server.URL)
	check(t, err)
	resp.Body.Close()
	if one.Known() != 1 || two.Known() != 2 {
		t.Errorf("%d and %d are known", one.Known(), two.Known())
	}
	check(t, one.Raise(t.Context(), 10))
	resp, err = c.Get(server.URL)
	if err == nil {
		resp.Body.Close()
	}
	wantFenced(t, err, 1, 10)
}

func TestHTTPGuard(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		lines  []string
		known  election.Token
		ok     bool
	}{
		"raised":                 {204, []string{"jobs=7"}, 0, true},
		"raised among others":    {204, []string{"other=1", "jobs=7"}, 0, true},
		"fenced":                 {409, []string{"jobs=9"}, 9, false},
		"a proxy answers":        {204, nil, 0, false},
		"another token":          {204, []string{"jobs=6"}, 0, false},
		"another election":       {204, []string{"other=7"}, 0, false},
		"200":                    {200, []string{"jobs=7"}, 0, false},
		"conflict, not ours":     {409, nil, 0, false},
		"conflict of no account": {409, []string{"jobs=7"}, 0, false},
		"a redirect":             {302, []string{"jobs=7"}, 0, false},
		"down":                   {503, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				if r.Method != "POST" || r.Header.Get(fence.Header) != "jobs=7" || r.Header.Values("Idempotency-Key") != nil {
					t.Errorf("got %s with %v", r.Method, r.Header)
				}
				w.Header()[fence.Header] = tt.lines
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
			}))
			g := &fence.HTTPGuard{URL: strings.Replace(server.URL, "://", "://user:secret@", 1) + "/?secret", Election: "jobs", Client: server.Client()}
			err := g.Raise(t.Context(), 7)
			switch {
			case tt.ok:
				check(t, err)
			case tt.known > 0:
				wantFenced(t, err, 7, tt.known)
			default:
				wantNotFenced(t, err)
			}
			if calls != 1 || err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("%d calls, %v", calls, err)
			}
		})
	}
}

// A connection that the service closed in the meantime costs nothing: raising
// twice is harmless, so net/http may send the request again.
func TestHTTPGuardOnAStaleConnection(t *testing.T) {
	var calls atomic.Int32 // the two connections have a goroutine each
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set(fence.Header, r.Header.Get(fence.Header))
		w.WriteHeader(http.StatusNoContent)
	}))
	g := &fence.HTTPGuard{URL: server.URL, Election: "jobs", Client: server.Client()}
	check(t, g.Raise(t.Context(), 7))
	check(t, g.Raise(t.Context(), 7))
	if n := calls.Load(); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

func TestHTTPGuardThatCannotAsk(t *testing.T) {
	server := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked") }))
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, g := range map[string]*fence.HTTPGuard{
		"no election": {URL: server.URL},
		"no scheme":   {URL: "host", Election: "jobs"},
		"bad URL":     {URL: "http://user:secret@host:port/", Election: "jobs"},
		"nobody":      {URL: strings.Replace(gone.URL, "://", "://user:secret@", 1), Election: "jobs"},
	} {
		err := g.Raise(t.Context(), 7)
		wantNotFenced(t, err)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&fence.HTTPGuard{URL: server.URL, Election: "jobs"}).Raise(ctx, 7); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
