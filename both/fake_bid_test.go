package both_test

import (
	"errors"
	"testing"
	"time"

	"incumbent/both"
	"incumbent/election"
)

// TestUndoIsTriedAgain: a lease of a bid that failed is given up when the store
// answers again, and not tried for longer than is of use.
func TestUndoIsTriedAgain(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		fails int // releases that are not answered, before one that is
		tries []time.Duration
	}{
		"at once":     {0, []time.Duration{0}},
		"the second":  {1, []time.Duration{0, 100 * ms}},
		"the third":   {2, []time.Duration{0, 100 * ms, 500 * ms}},
		"none of all": {9, []time.Duration{0, 100 * ms, 500 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			inFakes(t, func(t *testing.T, st *both.Store, one, two *fake) {
				one.release = func(n int) (election.Released, error) {
					if n <= c.fails {
						return election.Released{}, masterError(election.ErrUnreachable)
					}
					return election.Released{}, nil
				}
				two.acquire = func(b election.Bid) (election.Grant, error) {
					if b.Value != "v" { // the look
						return election.Grant{}, masterError(election.ErrTokenSpent)
					}
					return election.Grant{}, masterError(election.ErrUnreachable)
				}
				began := time.Now()
				if _, err := st.Acquire(t.Context(), fakeBid("v")); !errors.Is(err, election.ErrUnreachable) {
					t.Fatalf("a bid that the second store does not answer: %v", err)
				}
				settle(t, st)
				came := one.came()
				if len(came) != len(c.tries) {
					t.Fatalf("%d releases, want %d", len(came), len(c.tries))
				}
				for i, at := range came {
					if d := at.Sub(began); d != c.tries[i] {
						t.Errorf("release %d came after %s, want %s", i+1, d, c.tries[i])
					}
				}
				if n := len(two.came()); n != 0 {
					t.Errorf("the store that granted nothing was sent %d releases", n)
				}
			})
		})
	}
}

// answers is an error of several masters, as package quorum has it.
type answers []error

func (a answers) Error() string   { return errors.Join(a...).Error() }
func (a answers) Unwrap() []error { return a }

// TestNoLeaseIsTakenInVain: as long as most masters of a store do not answer a look, no
// lease is taken in the other one, whose release would wake everybody.
func TestNoLeaseIsTakenInVain(t *testing.T) {
	free, down := masterError(election.ErrTokenSpent), masterError(election.ErrUnreachable)
	for name, c := range map[string]struct {
		look  error
		takes bool
	}{
		"all free":           {answers{free, free, free}, true},
		"one of three down":  {answers{free, down, free}, true},
		"two of three down":  {answers{down, free, down}, false},
		"two of four down":   {answers{free, down, free, down}, false},
		"three of five down": {answers{free, free, down, down, down}, false},
		"all down":           {answers{down, down, down}, false},
	} {
		for _, silent := range []string{"first", "second"} {
			t.Run(name+"/"+silent, func(t *testing.T) {
				inFakes(t, func(t *testing.T, st *both.Store, one, two *fake) {
					bad, good := one, two
					if silent == "second" {
						bad, good = two, one
					}
					bad.acquire = func(election.Bid) (election.Grant, error) { return election.Grant{}, c.look }
					if _, err := st.Acquire(t.Context(), fakeBid("v")); err == nil {
						t.Fatal("a store that grants nothing was enough")
					} else if !c.takes && (!errors.Is(err, election.ErrUnreachable) || errors.Is(err, election.ErrTokenSpent)) {
						t.Errorf("the bid: %v", err)
					}
					settle(t, st)
					if takes := one.bidFor("v") || two.bidFor("v"); takes != c.takes {
						t.Errorf("a lease was asked for: %v, want %v", takes, c.takes)
					}
					if !c.takes && len(good.came()) != 0 {
						t.Error("a lease was given back, which wakes others")
					}
				})
			})
		}
	}
}

// TestWhatWaitingDoesNotCureIsSaidFirst: whatever the other store says, so that a
// campaign ends instead of standing by for ever.
func TestWhatWaitingDoesNotCureIsSaidFirst(t *testing.T) {
	for name, other := range map[string]error{
		"held":        &election.HeldError{Holder: election.Leader{Candidate: election.Candidate{ID: "z"}, Token: 7}, Left: fakeTTL},
		"guarded":     &election.GuardError{Guards: election.ClockGuard, Left: fakeTTL},
		"contended":   election.ErrContended,
		"unreachable": masterError(election.ErrUnreachable),
		"free":        masterError(election.ErrTokenSpent),
	} {
		for _, old := range []string{"single", "quorum"} {
			t.Run(name+"/"+old, func(t *testing.T) {
				inFakes(t, func(t *testing.T, st *both.Store, one, two *fake) {
					bad, good := one, two
					if old == "quorum" {
						bad, good = two, one
					}
					bad.acquire = func(election.Bid) (election.Grant, error) {
						return election.Grant{}, masterError(election.ErrServerTooOld)
					}
					good.acquire = func(election.Bid) (election.Grant, error) { return election.Grant{}, other }
					_, err := st.Acquire(t.Context(), fakeBid("v"))
					if !errors.Is(err, election.ErrServerTooOld) || !election.Permanent(err) {
						t.Errorf("the bid: %v", err)
					}
					if errors.Is(err, election.ErrNotAcquired) || errors.Is(err, election.ErrGuarded) {
						t.Errorf("it reads as if waiting helped: %v", err)
					}
				})
			})
		}
	}
}
