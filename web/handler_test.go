package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/web"
)

// A rolling update: the new candidate is alive and ready before it leads, so that the
// old one can be stopped; from then on it leads.
func TestE16_RollingUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		old, next := newCandidate(m, "old"), newCandidate(m, "new")
		codes{no, ok, ok}.of(t, old, "before the first campaign")
		old.run(obedient)
		codes{ok, ok, ok}.of(t, old, "leading")
		next.run(obedient)
		pass(2 * ttl)
		codes{no, ok, ok}.of(t, next, "standing by")
		codes{ok, ok, ok}.of(t, old, "leading, with a standby")

		old.ShuttingDown()
		codes{ok, ok, no}.of(t, old, "told to end")
		old.close(t)
		pass(ttl / 100)
		codes{no, ok, no}.of(t, old, "ended")
		codes{ok, ok, ok}.of(t, next, "taking over")
		next.close(t)
	})
}

// No state of the store makes a candidate unready or dead; it stops being the leader at
// its deadline, to the nanosecond.
func TestStoreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := newCandidate(m, "me")
		var term *election.Term
		c.run(func(ctx context.Context, t *election.Term) error {
			term = t
			<-ctx.Done()
			time.Sleep(ttl)
			return nil
		})
		m.Hang(true)
		pass(term.Remaining() - time.Nanosecond)
		codes{ok, ok, ok}.of(t, c, "just before the deadline")
		if s := status(t, c); !s.Stopping || !s.Leader {
			t.Errorf("just before the deadline: %+v", s)
		}
		pass(time.Nanosecond)
		codes{no, ok, ok}.of(t, c, "at the deadline")
		pass(100 * ttl)
		codes{no, ok, ok}.of(t, c, "long after")
		m.Hang(false)
		c.close(t)
	})
}

// Alive until a restart would cure something.
func TestLivez(t *testing.T) {
	t.Run("work overruns its term", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			c := newCandidate(m, "me")
			obey := make(chan struct{})
			var term *election.Term
			c.run(func(_ context.Context, t *election.Term) error { term = t; <-obey; return nil })
			pass(100 * ttl)
			codes{ok, ok, ok}.of(t, c, "long work")
			m.Hang(true)
			pass(term.Remaining() + web.DefaultOverrunTolerance)
			codes{no, ok, ok}.of(t, c, "overrun within tolerance")
			pass(time.Nanosecond)
			codes{no, no, ok}.of(t, c, "overrun")
			if text := get(c, "/livez").Body.String(); !strings.Contains(text, "work of term 1 still runs, 10s after") {
				t.Error(text)
			}
			m.Hang(false)
			close(obey)
			pass(10 * ttl)
			codes{no, ok, ok}.of(t, c, "the work has returned")
			c.close(t)
		})
	})
	t.Run("overrun of a term that was taken", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			c := newCandidate(m, "me")
			obey := make(chan struct{})
			c.run(func(context.Context, *election.Term) error { <-obey; return nil })
			m.StealBy("thief")
			pass(ttl / 3) // it is told
			codes{no, ok, ok}.of(t, c, "told")
			pass(web.DefaultOverrunTolerance)
			codes{no, no, ok}.of(t, c, "long after")
			close(obey)
			c.close(t)
		})
	})
	t.Run("the elector has stopped", func(t *testing.T) {
		c := newCandidate(electiontest.NewMemory(), "me")
		c.Stopped(nil)
		codes{no, ok, ok}.of(t, c, "the work is done")
		c.Stopped(errors.New("password hunter2 refused"))
		codes{no, no, ok}.of(t, c, "Run returned an error")
		if text := get(c, "/livez").Body.String(); strings.Contains(text, "hunter2") {
			t.Errorf("the error is shown: %s", text)
		}
		c.ShuttingDown()
		codes{no, ok, no}.of(t, c, "and the process is told to end")
	})
	t.Run("a permanent refusal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			c := newCandidate(m, "me")
			m.Fail(&election.MasterError{Master: "redis-a", Op: "acquire", Kind: election.ErrServerTooOld})
			if _, err := c.e.Campaign(t.Context()); !election.Permanent(err) {
				t.Fatal(err)
			}
			synctest.Wait()
			codes{no, no, ok}.of(t, c, "too old a server")
			m.Fail(nil)
			_, err := c.e.Campaign(t.Context())
			noErr(t, err)
			synctest.Wait()
			codes{ok, ok, ok}.of(t, c, "tried again")
			c.close(t)
		})
	})
}

// A standby names the leader that it was told of, with the age of that; never a stale
// one after it led itself, and it asks the store for none of it.
func TestKnownLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		token := m.StealBy("first")
		c := newCandidate(m, "me")
		if s := status(t, c); s.Known != nil || s.Leader || s.Token != 0 || s.Since != nil {
			t.Errorf("before the first campaign: %+v", s)
		}
		c.run(obedient)
		pass(2 * time.Second)
		calls := m.Calls(electiontest.OpInspect) + m.Calls(electiontest.OpAcquire)
		s := status(t, c)
		if s.Leader || s.Known == nil || s.Known.ID != "first" || s.Known.Token != token || s.Known.AgeMS != 2000 || s.Known.LeftMS != 15000 {
			t.Errorf("standing by: %+v, %+v", s, s.Known)
		}
		if n := m.Calls(electiontest.OpInspect) + m.Calls(electiontest.OpAcquire); n != calls {
			t.Errorf("the store was asked %d times", n-calls)
		}
		pass(15 * time.Second)
		s = status(t, c)
		if !s.Leader || s.Known != nil || s.Token != token+1 || s.Since == nil || s.LeftMS <= 0 || s.LeftMS > ttl.Milliseconds() || s.Stopping {
			t.Errorf("leading: %+v", s)
		}
		m.StealBy("second")
		pass(ttl / 3)
		if s = status(t, c); s.Leader || s.Known == nil || s.Known.ID != "second" || s.Token != 0 {
			t.Errorf("robbed: %+v, %+v", s, s.Known)
		}
		c.close(t)
	})
}

// The whole answer, as others read it.
func TestLeaderJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		h := web.New(web.Options{Election: name, ID: "me", Metadata: map[string]string{"url": "http://me"}, Clock: election.RuntimeClock()})
		c := &candidate{Handler: h, e: m.Elector(election.Options{ID: "me", TTL: ttl, Observer: h.Observe})}
		c.run(obedient)
		who := h.Status().Candidate
		want := fmt.Sprintf(`{"election":"bridge-health","leader":true,"candidate":{"id":"me","host":%q,"pid":%d,"metadata":{"url":"http://me"}},"token":1,"left_ms":2968,"since":"2000-01-01T00:00:00Z"}`,
			who.Host, who.PID)
		if got := strings.TrimSpace(get(h, "/leader").Body.String()); got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
		c.close(t)
		want = fmt.Sprintf(`{"election":"bridge-health","leader":false,"candidate":{"id":"me","host":%q,"pid":%d,"metadata":{"url":"http://me"}}}`, who.Host, who.PID)
		if got := strings.TrimSpace(get(h, "/leader").Body.String()); got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	})
}

// Methods, paths, headers.
func TestRequests(t *testing.T) {
	plain := web.New(web.Options{Election: name})
	measured := web.New(web.Options{Election: name, Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "numbers")
	})})
	below := http.StripPrefix("/election", plain)
	for _, test := range []struct {
		h            http.Handler
		method, path string
		code         int
		body         string // a part of it
	}{
		{plain, http.MethodGet, "/readyz", ok, "ready"},
		{plain, http.MethodHead, "/readyz", ok, ""},
		{plain, http.MethodHead, "/leader", no, ""},
		{plain, http.MethodGet, "/livez?verbose=1", ok, "alive"},
		{plain, http.MethodPost, "/leader", http.StatusMethodNotAllowed, "GET"},
		{plain, http.MethodDelete, "/livez", http.StatusMethodNotAllowed, "GET"},
		{plain, http.MethodGet, "/metrics", http.StatusNotFound, "/readyz"},
		{plain, http.MethodGet, "/", http.StatusNotFound, "/leader"},
		{plain, http.MethodPost, "/leader/", http.StatusNotFound, ""},
		{measured, http.MethodGet, "/metrics", ok, "numbers"},
		{measured, http.MethodPost, "/metrics", http.StatusMethodNotAllowed, ""},
		{below, http.MethodGet, "/election/leader", no, `"leader":false`},
		{below, http.MethodGet, "/leader", http.StatusNotFound, ""},
	} {
		r := ask(test.h, test.method, test.path)
		if r.Code != test.code || !strings.Contains(r.Body.String(), test.body) {
			t.Errorf("%s %s: %d %q", test.method, test.path, r.Code, r.Body)
		}
		if r.Header().Get("Cache-Control") != "no-store" && r.Code != http.StatusNotFound {
			t.Errorf("%s %s may be cached", test.method, test.path)
		}
		if r.Code == http.StatusMethodNotAllowed && r.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s %s: Allow is %q", test.method, test.path, r.Header().Get("Allow"))
		}
	}
}
