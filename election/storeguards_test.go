package election_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func TestStoreGuardsAsText(t *testing.T) {
	for text, want := range map[string]election.StoreGuards{
		"": election.NoGuards, "none": election.NoGuards, "all": election.AllGuards,
		"restart": election.RestartGuard, "clock, no-record": election.ClockGuard | election.NoRecordGuard,
		"restart,failover,no-record,early-expiry,clock": election.AllGuards,
	} {
		g, err := election.ParseStoreGuards(text)
		if err != nil || g != want {
			t.Errorf("%q: %s, %v", text, g, err)
		}
		if again, err := election.ParseStoreGuards(g.String()); err != nil || again != g {
			t.Errorf("%q comes back as %s, %v", g, again, err)
		}
	}
	if _, err := election.ParseStoreGuards("restart,fail-over"); err == nil || !strings.Contains(err.Error(), `"fail-over"`) || !strings.Contains(err.Error(), "failover") {
		t.Errorf("an unknown guard: %v", err)
	}
	// The one that cannot be switched has a name to be read, and no more.
	if s := (election.HandOverGuard | election.ClockGuard).String(); s != "clock,hand-over" || election.AllGuards.Has(election.HandOverGuard) {
		t.Errorf("the hand-over guard: %s", s)
	}
	if g, err := election.ParseStoreGuards("clock,hand-over"); err == nil || g != 0 || !strings.Contains(err.Error(), `"hand-over": cannot be switched`) {
		t.Errorf("the hand-over guard is read as %s, %v", g, err)
	}
	for g, want := range map[election.StoreGuards]string{
		election.HandOverGuard:                          "goes first",
		election.RestartGuard:                           "forgotten",
		election.HandOverGuard | election.FailoverGuard: "forgotten",
	} {
		err := &election.GuardError{Guards: g, Masters: []string{"m1", "m2"}, Left: time.Second}
		if text := err.Error(); !strings.Contains(text, want) || !strings.Contains(text, g.String()+" at m1, m2 for another 1s") {
			t.Errorf("%s: %s", g, text)
		}
	}
	if !election.AllGuards.Has(election.ClockGuard) || election.RestartGuard.Has(election.AllGuards) {
		t.Error("Has")
	}
}

func FuzzParseStoreGuards(f *testing.F) {
	f.Add("restart, clock")
	f.Add("all,none,,")
	f.Fuzz(func(t *testing.T, s string) {
		g, err := election.ParseStoreGuards(s)
		if again, e := election.ParseStoreGuards(g.String()); e != nil || err == nil && again != g {
			t.Errorf("%q: %s, then %s, %v", s, g, again, e)
		}
	})
}

// A campaign that a guard refuses sleeps until the guard is over, says so once,
// and is not woken by the release of its own undone votes.
func TestCampaignWaitsForAGuard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		began, bids := time.Now(), 0
		s := &hooks{Store: m.Store()}
		s.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
			bids++
			if left := 2*ttl - time.Since(began); left > 0 {
				m.Wake()
				return election.Grant{}, &election.GuardError{Guards: election.FailoverGuard, Masters: []string{"m1"}, Left: left, Last: 41}
			}
			return s.Store.Acquire(ctx, b)
		}
		e := join(t, s, "a")
		term, err := e.Campaign(bg)
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d < 2*ttl || d > 2*ttl+20*ms || bids > 4 {
			t.Errorf("led after %s and %d bids", d, bids)
		}
		if term.Token() != 42 {
			t.Errorf("token %d: a refusal's token was not heeded", term.Token())
		}
		if e.logs.count("INFO", "waiting for a guard", "failover", "m1", "left=6s") != 1 || e.logs.count("INFO", "waiting for a guard") != 1 {
			t.Errorf("log:\n%s", e.logs)
		}
		ctx, cancel := context.WithTimeout(bg, ttl)
		defer cancel()
		began, bids = time.Now(), 0
		if err := term.Resign(bg); err != nil {
			t.Fatal(err)
		}
		if _, err = e.Campaign(ctx); !errors.Is(err, election.ErrGuarded) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("gave up with %v", err)
		}
	})
}

func TestMaxTTL(t *testing.T) {
	for _, c := range []struct {
		ttl, longest time.Duration
		ok           bool
	}{{0, 0, true}, {ttl, 0, true}, {ttl, ttl, true}, {ttl, 2 * ttl, true}, {ttl, ttl - ms, false}, {0, ttl, false}, {ttl, 2*ttl + 1, false}, {ttl, -1, false}} {
		err := election.Options{TTL: c.ttl, MaxTTL: c.longest}.Validate()
		if (err == nil) != c.ok {
			t.Errorf("TTL %s, MaxTTL %s: %v", c.ttl, c.longest, err)
		}
	}
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		var got time.Duration
		s := &hooks{Store: m.Store()}
		s.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
			got = b.MaxTTL
			return s.Store.Acquire(ctx, b)
		}
		e := join(t, s, "a", func(o *election.Options) { o.MaxTTL = 5 * ttl })
		if _, err := e.Campaign(bg); err != nil || got != 5*ttl {
			t.Errorf("the bid says %s, %v", got, err)
		}
	})
}
