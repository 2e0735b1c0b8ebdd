package both_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"incumbent/both"
	"incumbent/election"
)

// TestRenewalPrefersTheRequestForItsTerm: to a stale one, whichever store has it and
// whichever answers first.
func TestRenewalPrefersTheRequestForItsTerm(t *testing.T) {
	const none, stale, ours = 0, 5, 1
	for name, c := range map[string]struct {
		one, two, want election.Token // of the requests
	}{
		"none":              {none, none, none},
		"first only":        {ours, none, ours},
		"second only":       {none, ours, ours},
		"first, and stale":  {ours, stale, ours},
		"stale, and second": {stale, ours, ours},
		"stale, in first":   {stale, none, stale}, // for the elector to disregard
		"stale, in second":  {none, stale, stale},
	} {
		for _, slow := range []string{"first", "second"} {
			t.Run(name+"/"+slow+" is slow", func(t *testing.T) {
				inFakes(t, func(t *testing.T, st *both.Store, one, two *fake) {
					brings := func(f *fake, token election.Token, d time.Duration) {
						f.renew = func(g election.Grant) (election.Grant, error) {
							time.Sleep(d)
							g.Asked = nil
							if token != none {
								g.Asked = &election.HandOver{Token: token}
							}
							return g, nil
						}
					}
					g := win(t, st, fakeBid("v"))
					if g.Token != ours {
						t.Fatalf("token %d", g.Token)
					}
					late := map[string]time.Duration{slow: 10 * time.Millisecond}
					brings(one, c.one, late["first"])
					brings(two, c.two, late["second"])
					r, err := st.Renew(t.Context(), g)
					if err != nil {
						t.Fatal(err)
					}
					if got := r.Asked; (got != nil) != (c.want != none) || got != nil && got.Token != c.want {
						t.Errorf("the renewal brings %+v, want token %d", got, c.want)
					}
				})
			})
		}
	}
}

// TestReleaseDoesNotWaitForASlowStore: the first store's lease is given back a twentieth
// of a TTL later at most, or after half of the time that there is.
func TestReleaseDoesNotWaitForASlowStore(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		slow, limit, want time.Duration
	}{
		"prompt":              {0, 0, 0},
		"a little slow":       {100 * ms, 0, 100 * ms},
		"slow":                {time.Second, 0, fakeTTL / 20},
		"slow, a long limit":  {time.Second, fakeTTL, fakeTTL / 20},
		"slow, a short limit": {time.Second, 200 * ms, 100 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			inFakes(t, func(t *testing.T, st *both.Store, one, two *fake) {
				g := win(t, st, fakeBid("v"))
				two.release = func(int) (election.Released, error) {
					time.Sleep(c.slow)
					return election.Released{}, nil
				}
				ctx := t.Context()
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				began := time.Now()
				if _, err := st.Release(ctx, g); err != nil {
					t.Fatal(err)
				}
				if came := one.came(); len(came) != 1 || came[0].Sub(began) != c.want {
					t.Errorf("the first store was asked at %v, after %s it should", came, c.want)
				}
			})
		})
	}
}

// TestAskSaysWhatIsKnown: that nobody leads or another term does only where no store is
// left that may have taken the request (election.Asker).
func TestAskSaysWhatIsKnown(t *testing.T) {
	leader := func(id string) election.Leader {
		return election.Leader{Candidate: election.Candidate{ID: id}, Token: 7}
	}
	nobody, taken, down := election.ErrNoLeader, error(&election.TakenError{By: leader("z")}), masterError(election.ErrUnreachable)
	known := []error{election.ErrNoLeader, election.ErrTaken, election.ErrUnreachable}
	for name, c := range map[string]struct {
		one, two error // nil: it takes the request
		want     error // that of known which it matches
		names    string
	}{
		"both take it":               {nil, nil, nil, ""},
		"first takes it":             {nil, nobody, nil, ""},
		"first takes it, no other":   {nil, taken, nil, ""},
		"first takes it, half known": {nil, down, nil, ""},
		"second takes it":            {taken, nil, nil, ""},
		"nobody":                     {nobody, nobody, election.ErrNoLeader, ""},
		"another in the first":       {taken, nobody, election.ErrTaken, ""},
		"another in the second":      {nobody, taken, election.ErrTaken, ""},
		"taken, and unknown":         {taken, down, election.ErrUnreachable, "quorum: "},
		"unknown, and taken":         {down, taken, election.ErrUnreachable, "single: "},
		"nobody, and unknown":        {nobody, down, election.ErrUnreachable, "quorum: "},
		"unknown, and nobody":        {down, nobody, election.ErrUnreachable, "single: "},
	} {
		t.Run(name, func(t *testing.T) {
			inFakes(t, func(t *testing.T, st *both.Store, one, two *fake) {
				says := func(f *fake, err error) {
					f.ask = func(election.HandOver) (election.Leader, error) {
						if err != nil {
							return election.Leader{}, err
						}
						return leader("a"), nil
					}
				}
				says(one, c.one)
				says(two, c.two)
				l, err := st.Ask(t.Context(), election.HandOver{Token: 7})
				for _, k := range known {
					if matches := errors.Is(err, k); matches != (k == c.want) {
						t.Errorf("%v matches %v: %t", err, k, matches)
					}
				}
				switch {
				case c.want == nil && (err != nil || l.ID != "a" || l.Token != 7):
					t.Errorf("asked is %+v, %v", l, err)
				case err != nil && !strings.Contains(err.Error(), c.names):
					t.Errorf("%v does not name the store", err)
				}
			})
		})
	}
}
