package election_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// Where an heir's turn is about to end, whoever was asked to hand over lets others go
// first; whoever lost its term in another way, or led none, does not wait for longer
// than the turn.
func TestWhoWasAskedLetsOthersGoFirst(t *testing.T) {
	const courtesy, left = ttl / 10, ttl / 20
	for name, c := range map[string]struct {
		before func(t *testing.T, m *electiontest.Memory, a *candidate) // its last term
		first  bool                                                     // others go first
	}{
		"led no term": {func(*testing.T, *electiontest.Memory, *candidate) {}, false},
		"was asked": {func(t *testing.T, m *electiontest.Memory, a *candidate) {
			term := lead(t, a)
			ask(t, m, election.HandOver{Token: term.Token()})
			<-term.Context().Done()
			noErr(t, term.Resign(bg))
		}, true},
		"resigned": {func(t *testing.T, _ *electiontest.Memory, a *candidate) {
			noErr(t, lead(t, a).Resign(bg))
		}, false},
		"was robbed": {func(t *testing.T, m *electiontest.Memory, a *candidate) {
			term := lead(t, a)
			m.StealBy("thief")
			<-term.Context().Done()
			m.Free()
		}, false},
		"was cut off": {func(t *testing.T, m *electiontest.Memory, a *candidate) {
			term := lead(t, a)
			m.Unreachable(true)
			<-term.Context().Done()
			pass(ttl)
			m.Unreachable(false)
		}, false},
		"was asked for a term before": {func(t *testing.T, m *electiontest.Memory, a *candidate) {
			term := lead(t, a)
			ask(t, m, election.HandOver{Token: term.Token()})
			<-term.Context().Done()
			noErr(t, term.Resign(bg))
			noErr(t, lead(t, a).Resign(bg))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := electiontest.NewMemory()
				s := &hooks{Store: m.Store()}
				a := join(t, s, "a")
				c.before(t, m, a)
				pass(2 * ttl) // no courtesy of its resignation is left
				var refusals atomic.Int32
				var refused time.Time
				s.acquire = func(ctx context.Context, b election.Bid) (election.Grant, error) {
					if refusals.Add(1) == 1 {
						refused = time.Now()
						return election.Grant{}, &election.GuardError{Guards: election.HandOverGuard, Left: left}
					}
					return s.Store.Acquire(ctx, b)
				}
				term := lead(t, a)
				waited, want := time.Since(refused), left
				noErr(t, term.Resign(bg))
				if c.first {
					want += courtesy
				}
				if waited < want || waited > want+10*time.Millisecond {
					t.Errorf("led %s after the refusal, want %s", waited, want)
				}
			})
		})
	}
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, election.ErrExpired) {
		t.Fatal(err)
	}
}
