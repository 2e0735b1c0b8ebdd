package metrics_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/metrics"
)

// contextOf is the test's context, which can be cancelled.
func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// agrees scrapes every 10 ms for d and compares with the term itself, nil for none.
func agrees(t *testing.T, c *metrics.Collector, term *election.Term, d time.Duration) {
	t.Helper()
	for range d / (10 * time.Millisecond) {
		pass(10 * time.Millisecond)
		leads, token := 0.0, 0.0
		if term != nil && term.Valid() {
			leads, token = 1, float64(term.Token())
		}
		got := scrape(t, c)
		got.want(t, map[string]float64{"is_leader": leads, "token": token})
		if left := got["incumbent_term_remaining_seconds"]; (left > 0) != (leads == 1) {
			t.Fatalf("%v s left, is_leader %v", left, leads)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// The gauge is right at every scrape, whatever happens to the candidate: it is what the
// term says, which reads the clock.
func TestF01_LeaderGaugeIsTheTerm(t *testing.T) {
	t.Run("never elected", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { agrees(t, newCollector(t), nil, ttl) })
	})
	t.Run("cancelled while it acquires", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m, c := electiontest.NewMemory(), newCollector(t)
			m.Slow(ttl / 10)
			e := watched(m, c, "me")
			ctx, cancel := contextOf(t)
			done := make(chan struct{})
			go func() { _, _ = e.Campaign(ctx); close(done) }()
			pass(ttl / 20) // the store has granted it, the answer is on its way
			cancel()
			<-done
			agrees(t, c, nil, 2*ttl)
			scrape(t, c).want(t, map[string]float64{"terms_total": 0})
			closeAll(t, e)
		})
	})
	losses := map[string]struct {
		lose   func(m *electiontest.Memory)
		reason string
	}{
		"lease deleted":     {func(m *electiontest.Memory) { m.Expire() }, "expired"},
		"store unreachable": {func(m *electiontest.Memory) { m.Unreachable(true) }, "unreachable"},
		"store hangs":       {func(m *electiontest.Memory) { m.Hang(true) }, "unreachable"},
		"stolen":            {func(m *electiontest.Memory) { m.StealBy("thief") }, "taken"},
	}
	for what, test := range losses {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, c := electiontest.NewMemory(), newCollector(t)
				e := watched(m, c, "me")
				term, err := e.Campaign(t.Context())
				noErr(t, err)
				agrees(t, c, term, ttl)
				test.lose(m)
				agrees(t, c, term, 2*ttl)
				if term.Valid() {
					t.Fatal("the term goes on")
				}
				scrape(t, c).want(t, map[string]float64{"terms_total": 1, "losses_total{reason=" + test.reason + "}": 1})
				m.Unreachable(false)
				m.Hang(false)
				closeAll(t, e)
			})
		})
	}
}

// A scrape at the very deadline, before and after it; and the observer may hang: then
// the event of the loss is never delivered, and the gauge is right all the same.
func TestF01_LeaderGaugeNeedsNoEventOfTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := electiontest.NewMemory(), newCollector(t)
		hang := make(chan struct{})
		slow := func(ev election.Event) {
			if ev.Kind == election.TermStarted {
				<-hang
			}
		}
		e := m.Elector(election.Options{ID: "me", TTL: ttl, Observer: metrics.Observers(c.Observe, nil, slow)})
		term, err := e.Campaign(t.Context())
		noErr(t, err)
		synctest.Wait()
		m.Unreachable(true)
		pass(term.Remaining() - time.Nanosecond)
		scrape(t, c).want(t, map[string]float64{"is_leader": 1})
		pass(time.Nanosecond)
		scrape(t, c).want(t, map[string]float64{
			"is_leader": 0, "token": 0, "term_remaining_seconds": 0, "masters{state=confirmed}": 0, "masters_configured": 1,
			"losses_total{reason=unreachable}": 0, // not told yet
		})
		close(hang)
		synctest.Wait()
		scrape(t, c).want(t, map[string]float64{"is_leader": 0, "losses_total{reason=unreachable}": 1})
		m.Unreachable(false)
		closeAll(t, e)
	})
}

// With metrics attached, an observer that is slow does not delay renewals; what the
// counters miss by it is counted.
func TestF09_SlowObserverDelaysNoRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := electiontest.NewMemory(), newCollector(t)
		slow := func(election.Event) { time.Sleep(10 * ttl) }
		e := m.Elector(election.Options{ID: "me", TTL: ttl, Observer: metrics.Observers(c.Observe, slow)})
		term, err := e.Campaign(t.Context())
		noErr(t, err)
		const renewals = 3000 // more than are queued
		for range renewals {
			before := m.Calls(electiontest.OpRenew)
			pass(ttl / 3)
			if m.Calls(electiontest.OpRenew) == before {
				t.Fatal("no renewal within an interval")
			}
		}
		if !term.Valid() {
			t.Fatal("the term was lost")
		}
		sent := m.Calls(electiontest.OpRenew)
		for scrape(t, c)["incumbent_events_dropped_total"] == 0 {
			pass(10 * ttl)
		}
		closeAll(t, e)
		pass(3000 * 10 * ttl) // the observer catches up
		got := scrape(t, c)
		seen := got["incumbent_renew_duration_seconds_count"] + got["incumbent_events_dropped_total"]
		if int(seen) < sent {
			t.Errorf("%v renewals seen or dropped of %d", seen, sent)
		}
	})
}
