package election_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

const ms = time.Millisecond

func TestDriftAndDeadline(t *testing.T) {
	sent := time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC)
	for _, c := range []struct{ ttl, drift, after time.Duration }{
		{50 * ms, 2500 * time.Microsecond, 47500 * time.Microsecond},
		{time.Second, 12 * ms, 988 * ms},
		{3 * time.Second, 32 * ms, 2968 * ms},
		{15 * time.Second, 152 * ms, 14848 * ms},
	} {
		if got := election.Drift(c.ttl); got != c.drift {
			t.Errorf("drift(%s) = %s, want %s", c.ttl, got, c.drift)
		}
		if got := election.DeadlineOf(sent, c.ttl).Sub(sent); got != c.after {
			t.Errorf("deadline of TTL %s is %s after the request, want %s", c.ttl, got, c.after)
		}
	}
}

func TestTryTimeout(t *testing.T) {
	for _, c := range []struct{ remaining, want time.Duration }{
		{3 * time.Second, 750 * ms},
		{1500 * ms, 750 * ms},
		{time.Second, 500 * ms},
		{10 * ms, 5 * ms},
		{ms, ms},
		{0, ms},
		{-time.Second, ms},
	} {
		if got := election.TryTimeout(c.remaining, ttl); got != c.want {
			t.Errorf("tryTimeout(%s) = %s, want %s", c.remaining, got, c.want)
		}
	}
	for remaining := 4 * ms; remaining < ttl; remaining += 7 * ms {
		first := election.TryTimeout(remaining, ttl)
		if second := election.TryTimeout(remaining-first, ttl); first+second > remaining {
			t.Fatalf("with %s left two tries take %s", remaining, first+second)
		}
	}
}

func TestRenewAfter(t *testing.T) {
	for _, c := range []struct {
		random float64
		want   time.Duration
	}{{0, 850 * ms}, {0.5, 900 * ms}, {1, 950 * ms}} {
		if got := election.RenewAfter(time.Second, c.random).Round(time.Microsecond); got != c.want {
			t.Errorf("renewAfter(1s, %v) = %s, want %s", c.random, got, c.want)
		}
	}
}

// delayed is a store whose requests and answers take random times, whatever
// their context says. It notes when the newest bid was sent.
func delayed(m *electiontest.Memory, seed uint64, most time.Duration) (h *hooks, sent *atomic.Pointer[time.Time]) {
	r := seeded(seed)
	part := func() { <-time.After(time.Duration(r() % uint64(most))) }
	sent = new(atomic.Pointer[time.Time])
	s := m.Store()
	h = &hooks{Store: s}
	h.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
		now := time.Now()
		sent.Store(&now)
		part()
		g, err := s.Acquire(bg, b)
		part()
		return g, err
	}
	h.renew = func(ctx context.Context, g election.Grant) (election.Grant, error) {
		part()
		g, err := s.Renew(bg, g)
		part()
		return g, err
	}
	return h, sent
}

// Over random delays of request and answer, what a term believes is never more
// than TTL - elapsed - drift, and never more than the store would grant it.
func TestA04_DriftIsSubtractedNotAdded(t *testing.T) {
	for seed := range uint64(40) {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			most := time.Duration(1+rand.New(rand.NewPCG(seed, 7)).IntN(1000)) * ms
			h, sent := delayed(m, seed, most)
			c := join(t, h, "a")
			ctx, cancel := context.WithTimeout(bg, 20*time.Second)
			defer cancel()
			for range 3 {
				term, err := c.Campaign(ctx)
				if err != nil {
					break
				}
				synctest.Wait()
				want := sent.Load().Add(ttl - election.Drift(ttl))
				if got := c.events.last(t, election.TermStarted).Deadline; !got.Equal(want) {
					t.Fatalf("seed %d: deadline after the acquire is %s off", seed, got.Sub(want))
				}
				watchBelief(t, m, term, seed)
				_ = term.Resign(ctx) // it may have lapsed
			}
			pass(10 * time.Second)
			for _, ev := range c.events.list(election.Renewed) {
				if want := ev.At.Add(-ev.Took).Add(ttl - election.Drift(ttl)); !ev.Deadline.Equal(want) {
					t.Fatalf("seed %d: deadline after a renewal is %s off", seed, ev.Deadline.Sub(want))
				}
			}
		})
	}
}

// watchBelief samples for 3 TTL.
func watchBelief(t *testing.T, m *electiontest.Memory, term *election.Term, seed uint64) {
	t.Helper()
	for range 300 {
		left := time.Duration(0)
		if l, held := m.Leader(); held && l.Token == term.Token() {
			left = l.Left
		}
		if got := term.Remaining(); got > left || term.Valid() != (got > 0) {
			t.Fatalf("seed %d: term believes in %s (valid %v), the store in %s", seed, got, term.Valid(), left)
		}
		pass(3 * ttl / 300)
	}
}

// Answers that take 0.2 TTL count, those of 0.8 TTL come too late for their
// try; in neither case does the term outlive the lease.
func TestA27_SlowRenewalDoesNotStretchTrust(t *testing.T) {
	for _, part := range []time.Duration{2, 8} {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			c := join(t, m.Store(), "a")
			term := lead(t, c)
			m.Slow(part * ttl / 10)
			watchBelief(t, m, term, 0)
			if want := part == 2; term.Valid() != want {
				t.Errorf("answers after %s: valid is %v, want %v", part*ttl/10, term.Valid(), want)
			}
		})
	}
}

// A renewal that the client does not bound, answered late but before the
// deadline, counts from when it was sent.
func TestRenewalCountsFromTheRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		s := m.Store()
		var sent time.Time
		h := &hooks{Store: s, renew: func(_ context.Context, g election.Grant) (election.Grant, error) {
			if sent.IsZero() {
				sent = time.Now()
			}
			g, err := s.Renew(bg, g)
			<-time.After(ttl / 2)
			return g, err
		}}
		c := join(t, h, "a")
		term := lead(t, c)
		pass(renew + ttl/2)
		if c.events.count(election.Renewed) != 1 {
			t.Fatalf("renewals: %v", c.events.list())
		}
		if got, want := term.Deadline(), sent.Add(ttl-election.Drift(ttl)); !got.Equal(want) {
			t.Errorf("deadline is %s later than counted from the request", got.Sub(want))
		}
	})
}
