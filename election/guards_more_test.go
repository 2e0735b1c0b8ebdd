package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// Somebody may say that nobody leads: a long guard is looked at once a TTL, and the
// log says how.
func TestCampaignLooksAgainOnceATTL(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		began, bids := time.Now(), 0
		s := &hooks{Store: m.Store()}
		s.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
			bids++
			if time.Since(began) < 3*ttl/2 { // then Init is called
				return election.Grant{}, &election.GuardError{Guards: election.NoRecordGuard, Masters: []string{"m1"}, Left: 20 * ttl}
			}
			return s.Store.Acquire(ctx, b)
		}
		e := join(t, s, "a")
		if _, err := e.Campaign(bg); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > 2*ttl+20*ms || bids != 3 {
			t.Errorf("led after %s and %d bids", d, bids)
		}
		if e.logs.count("INFO", "waiting for a guard", "no-record", "Init") != 1 {
			t.Errorf("log:\n%s", e.logs)
		}
	})
}

// Splits before a guard are forgotten: the next split begins with a short pause.
func TestCampaignForgetsSplitsAtAGuard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		var at []time.Time
		s := &hooks{Store: m.Store()}
		s.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
			at = append(at, time.Now())
			switch n := len(at); {
			case n == 9:
				return election.Grant{}, &election.GuardError{Guards: election.FailoverGuard, Masters: []string{"m1"}, Left: ms}
			case n <= 10:
				return election.Grant{}, election.ErrContended
			}
			return s.Store.Acquire(ctx, b)
		}
		e := join(t, s, "a", func(o *election.Options) { o.Random = func() uint64 { return 1 << 63 } })
		if _, err := e.Campaign(bg); err != nil {
			t.Fatal(err)
		}
		if d := at[10].Sub(at[9]); d > 9*ms {
			t.Errorf("paused %s after a split", d)
		}
	})
}

// A guard that says no more than that it refuses, one that hangs once, and one that
// panics.
func TestRunGuardsThatSayLittle(t *testing.T) {
	work := func(context.Context, *election.Term) error { return nil }
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		var tokens []election.Token
		err := election.Run(bg, e, work, door(func(_ context.Context, token election.Token) error {
			if tokens = append(tokens, token); len(tokens) == 1 {
				return &election.FencedError{Resource: "row 7"}
			}
			return nil
		}))
		if err != nil || len(tokens) != 2 || tokens[1] != tokens[0]+2 {
			t.Errorf("%v: raised to %v", err, tokens)
		}
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		began, tries := time.Now(), 0
		err := election.Run(bg, e, work, door(func(ctx context.Context, _ election.Token) error {
			if tries++; tries == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}))
		if d := time.Since(began); err != nil || tries != 2 || d > ttl {
			t.Errorf("%v after %s and %d tries", err, d, tries)
		}
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		e := join(t, m.Store(), "a")
		began, tries := time.Now(), 0
		var p *election.PanicError
		err := election.Run(bg, e, work, door(func(context.Context, election.Token) error { tries++; panic("boom") }))
		if !errors.As(err, &p) || tries != 1 || time.Since(began) > 10*ms {
			t.Errorf("%v after %s and %d tries", err, time.Since(began), tries)
		}
	})
}
