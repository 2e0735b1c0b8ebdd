package both_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"incumbent/both"
	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/internal/simnet"
)

func TestNewRefuses(t *testing.T) {
	st := electiontest.NewMemory().Store()
	for _, c := range []struct {
		name     string
		one, two election.Store
		o        both.Options
	}{
		{"no first", nil, st, both.Options{}},
		{"no second", st, nil, both.Options{}},
		{"one name", st, st, both.Options{First: "a", Second: "a"}},
		{"the name of the other's default", st, st, both.Options{First: "second"}},
	} {
		if _, err := both.New(c.one, c.two, c.o); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

// TestALeaseInBothStores: whoever uses one of the stores alone is kept out.
func TestALeaseInBothStores(t *testing.T) {
	eachLayout(t, func(t *testing.T, w *world) {
		st := w.both("a")
		g := win(t, st, w.bid("a", "v"))
		settle(t, st)
		for i := range w.masters {
			if w.value(i) != g.Value {
				t.Errorf("master %d stores %q", i, w.value(i))
			}
		}
		for name, other := range map[string]election.Store{"the first": w.one("one"), "the second": w.two("two")} {
			var held *election.HeldError
			if _, err := other.Acquire(t.Context(), w.bid("z", name)); !errors.As(err, &held) || held.Holder.ID != "a" {
				t.Errorf("a bid to %s alone: %v", name, err)
			}
			settle(t, other)
		}
	})
}

// TestTokensGrowFromStoreToStore: terms by the first store alone, by both, and by the
// second alone, in all orders, with clocks that differ.
func TestTokensGrowFromStoreToStore(t *testing.T) {
	for _, skew := range []time.Duration{-30 * time.Minute, 30 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				w.masters[3].SetClockOffset(skew)
				var last election.Token
				one, two, joint := w.one("one"), w.two("two"), w.both("both")
				for i, st := range []election.Store{one, joint, two, joint, one, joint, one, joint, two} {
					g := win(t, st, w.bid("c", "v"+strconv.Itoa(i)))
					if g.Token <= last {
						t.Errorf("term %d has token %d after %d", i, g.Token, last)
					}
					last = g.Token
					if _, err := st.Release(t.Context(), g); err != nil {
						t.Fatal(err)
					}
					settle(t, st)
				}
			})
		})
	}
}

// TestTheTokenIsInTheFirstStoreToo: before the term begins, and not by a renewal.
func TestTheTokenIsInTheFirstStoreToo(t *testing.T) {
	eachLayout(t, func(t *testing.T, w *world) {
		for _, i := range w.layout.two {
			w.masters[i].SetClockOffset(time.Hour)
		}
		st := w.both("a")
		g := win(t, st, w.bid("a", "v"))
		for _, i := range w.layout.one {
			if last := w.field(i, "last"); last != strconv.FormatUint(uint64(g.Token), 10) {
				t.Errorf("master %d knows token %s, the term has %d", i, last, g.Token)
			}
		}
		settle(t, st)
	})
}

// TestRenewalNeedsBoth: what one store alone confirms is unknown.
func TestRenewalNeedsBoth(t *testing.T) {
	for name, silent := range map[string][]int{"first": apart.one, "second": apart.two} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				st := w.both("a")
				g := win(t, st, w.bid("a", "v"))
				settle(t, st)
				for _, i := range silent {
					w.masters[i].Hang()
				}
				_, err := st.Renew(t.Context(), g)
				if !errors.Is(err, election.ErrUnreachable) || errors.Is(err, election.ErrExpired) || errors.Is(err, election.ErrTaken) {
					t.Errorf("renewal with a silent store: %v", err)
				}
				for _, i := range silent {
					w.masters[i].Resume()
				}
				settle(t, st)
				if g, err = st.Renew(t.Context(), g); err != nil || g.Held < 3 || g.Masters != 4 {
					t.Errorf("renewal with both stores: held by %d of %d, %v", g.Held, g.Masters, err)
				}
				settle(t, st)
			})
		})
	}
}

// TestLossOfOneStoreEndsTheTerm: at once, and the other lease is kept until the
// term is given back.
func TestLossOfOneStoreEndsTheTerm(t *testing.T) {
	for name, lost := range map[string][]int{"first": apart.one, "second": apart.two} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				term := campaign(t, w.elector("a", w.both("a")))
				time.Sleep(w.ttl / 10)
				for _, i := range lost {
					w.masters[i].Evict(leaseKey)
				}
				start := time.Now()
				select {
				case <-term.Context().Done():
				case <-time.After(w.ttl):
				}
				if d := time.Since(start); d > w.ttl/2 || term.Valid() || !errors.Is(context.Cause(term.Context()), election.ErrExpired) {
					t.Errorf("after %s: %v, valid %v", d, term.Loss(), term.Valid())
				}
				if loss := term.Loss(); loss != nil && !strings.Contains(loss.Error(), map[string]string{"first": "single: ", "second": "quorum: "}[name]) {
					t.Errorf("the loss does not name the store: %v", loss)
				}
				if n := w.holders(); n != 4-len(lost) {
					t.Errorf("%d masters hold a lease while the work may be stopping", n)
				}
				if err := term.Resign(t.Context()); !errors.Is(err, election.ErrExpired) {
					t.Errorf("resign: %v", err)
				}
				if n := w.holders(); n != 0 {
					t.Errorf("%d masters hold a lease after the release", n)
				}
			})
		})
	}
}

// holders counts the masters that keep a lease.
func (w *world) holders() (n int) {
	for i := range w.masters {
		if w.value(i) != "" {
			n++
		}
	}
	return n
}

// TestReleaseTriesBoth: the store that answers is released whatever the other does,
// and only what is unknown is tried again.
func TestReleaseTriesBoth(t *testing.T) {
	for name, c := range map[string]struct{ silent, good []int }{
		"the first is silent":  {apart.one, apart.two},
		"the second is silent": {apart.two, apart.one},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				st := w.both("a")
				g := win(t, st, w.bid("a", "v"))
				settle(t, st)
				for _, i := range c.silent {
					w.masters[i].Crash()
				}
				ctx, cancel := context.WithTimeout(t.Context(), w.ttl/2)
				_, err := st.Release(ctx, g)
				cancel()
				if !errors.Is(err, election.ErrUnreachable) || errors.Is(err, election.ErrExpired) {
					t.Errorf("release with a silent store: %v", err)
				}
				for _, i := range c.good {
					if w.value(i) != "" {
						t.Errorf("master %d still holds the lease", i)
					}
				}
				for _, i := range c.silent {
					w.masters[i].Restart(false)
				}
				if _, err := st.Release(t.Context(), g); err != nil {
					t.Errorf("release again: %v", err)
				}
				settle(t, st)
				if n := w.holders(); n != 0 {
					t.Errorf("%d masters still hold the lease", n)
				}
			})
		})
	}
}

// TestReleaseWithASharedServer: what the second store has released is no loss of the
// first, and the second has its majority though a master is missing.
func TestReleaseWithASharedServer(t *testing.T) {
	for _, l := range []layout{sharing, replacing} {
		t.Run(l.name, func(t *testing.T) {
			inWorld(t, 1, l, func(t *testing.T, w *world) {
				st := w.both("a")
				for _, down := range []int{-1, 2} {
					g := win(t, st, w.bid("a", "v"+strconv.Itoa(down)))
					settle(t, st)
					if down >= 0 {
						w.masters[down].Crash()
					}
					if _, err := st.Release(t.Context(), g); err != nil {
						t.Errorf("release with master %d down: %v", down, err)
					}
					settle(t, st)
				}
			})
		})
	}
}

// TestReleaseWithASharedServerThatIsTakenAtOnce: between the two releases somebody
// else gets what the first of them has freed.
func TestReleaseWithASharedServerThatIsTakenAtOnce(t *testing.T) {
	inWorld(t, 1, sharing, func(t *testing.T, w *world) {
		st, rival := w.both("a"), w.one("z")
		g := win(t, st, w.bid("a", "v"))
		settle(t, st)
		w.OnCommand(func(c simnet.Command) {
			if c.Host == "a" && w.value(0) == "" {
				w.OnCommand(nil)
				go func() {
					_, err := rival.Acquire(t.Context(), w.bid("z", "z"))
					if err != nil {
						t.Error(err)
					}
				}()
				w.SetLatency("a", w.masters[0], simnet.Latency{Min: 5 * time.Millisecond, Max: 6 * time.Millisecond})
			}
		})
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Errorf("release: %v", err)
		}
		settle(t, st, rival)
		if w.value(0) != "z" {
			t.Errorf("the shared server keeps %q", w.value(0))
		}
	})
}

// TestReleaseOfALostFirstLease is told from a shared server.
func TestReleaseOfALostFirstLease(t *testing.T) {
	inWorld(t, 1, apart, func(t *testing.T, w *world) {
		st := w.both("a")
		g := win(t, st, w.bid("a", "v"))
		settle(t, st)
		w.masters[3].Evict(leaseKey)
		if _, err := st.Release(t.Context(), g); !errors.Is(err, election.ErrExpired) {
			t.Errorf("release of a lease that was lost: %v", err)
		}
		settle(t, st)
	})
}

// TestFailedBidIsUndone: the second store refuses after the first has granted.
func TestFailedBidIsUndone(t *testing.T) {
	inWorld(t, 1, apart, func(t *testing.T, w *world) {
		st, rival := w.both("a"), w.two("z")
		// The rival takes the second lease between our look and our bid.
		w.masters[3].Hang()
		result := make(chan error)
		go func() {
			_, err := st.Acquire(t.Context(), w.bid("a", "v"))
			result <- err
		}()
		time.Sleep(50 * time.Millisecond)
		g := win(t, rival, w.bid("z", "z"))
		w.masters[3].Resume()
		var held *election.HeldError
		if err := <-result; !errors.As(err, &held) || held.Holder.ID != "z" {
			t.Errorf("a bid that was too late: %v", err)
		}
		settle(t, st, rival)
		if w.value(3) != "" {
			t.Error("the first lease was not given up")
		}
		if _, err := rival.Renew(t.Context(), g); err != nil {
			t.Errorf("the rival's renewal: %v", err)
		}
		settle(t, rival)
	})
}

// TestAbandonedBidLeavesNothing: ctx may end at any point of a bid.
func TestAbandonedBidLeavesNothing(t *testing.T) {
	eachLayout(t, func(t *testing.T, w *world) {
		for i := range 40 {
			st := w.both("h" + strconv.Itoa(i))
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
			g, err := st.Acquire(ctx, w.bid("a", "v"+strconv.Itoa(i)))
			cancel()
			if err == nil {
				_, err = st.Release(t.Context(), g)
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a bid of %d00 us: %v", i, err)
			}
			settle(t, st)
			if n := w.holders(); n != 0 {
				t.Fatalf("a bid of %d00 us (%v) left %d leases", i, err, n)
			}
		}
	})
}

// TestSilentStoreElectsNobody, and is not asked for a lease by way of the other.
func TestSilentStoreElectsNobody(t *testing.T) {
	for name, silent := range map[string][]int{"first": apart.one, "second": apart.two} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				for _, i := range silent {
					w.masters[i].Crash()
				}
				st := w.both("a")
				_, err := st.Acquire(t.Context(), w.bid("a", "v"))
				if !errors.Is(err, election.ErrUnreachable) {
					t.Errorf("a bid: %v", err)
				}
				settle(t, st)
				for i := range w.masters {
					if w.field(i, "value") == "v" {
						t.Errorf("master %d granted a lease that could not be used", i)
					}
				}
			})
		})
	}
}

// TestAnErrorNamesWhatFailed, and not what a look at the others came to.
func TestAnErrorNamesWhatFailed(t *testing.T) {
	inWorld(t, 1, apart, func(t *testing.T, w *world) {
		w.masters[1].Crash()
		w.masters[2].Crash()
		st := w.both("a")
		_, err := st.Acquire(t.Context(), w.bid("a", "v"))
		if !errors.Is(err, election.ErrUnreachable) || errors.Is(err, election.ErrTokenSpent) || election.Permanent(err) {
			t.Errorf("a bid: %v", err)
		}
		for _, name := range []string{"quorum: ", w.masters[1].Addr(), w.masters[2].Addr()} {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%q does not name %s", err, name)
			}
		}
		settle(t, st)
	})
}

// TestRenewalsRunSideBySide: a renewal takes as long as the slower store's.
func TestRenewalsRunSideBySide(t *testing.T) {
	inWorld(t, 1, apart, func(t *testing.T, w *world) {
		st := w.both("a")
		g, err := st.Renew(t.Context(), win(t, st, w.bid("a", "v"))) // which makes the script known
		if err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		for _, m := range w.masters {
			w.SetLatency("a", m, simnet.Latency{Min: 10 * time.Millisecond, Max: 11 * time.Millisecond})
		}
		start := time.Now()
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 25*time.Millisecond {
			t.Errorf("took %s, a round trip takes at most 22ms", took)
		}
		settle(t, st)
	})
}

// TestInit says that nobody leads, in both stores, and refuses while somebody does.
func TestInit(t *testing.T) {
	eachLayout(t, func(t *testing.T, w *world) {
		w.opt.AssumeNew = false
		st := w.both("a")
		if err := st.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		g := win(t, st, w.bid("a", "v"))
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		for name, other := range map[string]election.Store{"first": w.one("one"), "second": w.two("two")} {
			g := win(t, other, w.bid("z", "z-"+name))
			var held *election.HeldError
			if err := st.Init(t.Context()); !errors.As(err, &held) || held.Holder.ID != "z" {
				t.Errorf("init while somebody leads by the %s store: %v", name, err)
			}
			if _, err := other.Release(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			settle(t, other)
		}
	})
}

// TestInspectNamesTheStores, and who leads by either.
func TestInspectNamesTheStores(t *testing.T) {
	inWorld(t, 1, apart, func(t *testing.T, w *world) {
		st := w.both("a")
		leader := func() string {
			state, err := st.Inspect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range state.Masters {
				if want := []string{"single/", "quorum/"}[min(i, 1)]; !strings.HasPrefix(m.Name, want) {
					t.Errorf("master %d is called %q, want %s...", i, m.Name, want)
				}
			}
			if state.Leader == nil {
				return ""
			}
			return state.Leader.ID
		}
		if l := leader(); l != "" {
			t.Errorf("%q leads in the beginning", l)
		}
		one, two := w.one("one"), w.two("two")
		win(t, one, w.bid("x", "x"))
		if l := leader(); l != "x" {
			t.Errorf("%q leads by the first store, want x", l)
		}
		time.Sleep(10 * time.Millisecond)
		win(t, two, w.bid("y", "y")) // which must not be: the later one is shown
		if l := leader(); l != "y" {
			t.Errorf("%q leads by the second store, want y", l)
		}
		settle(t, one, two)
	})
}

// TestABidOnItsWayIsNoLeader: who looks while a bid has the one lease and not the
// other yet sees the term that it becomes.
func TestABidOnItsWayIsNoLeader(t *testing.T) {
	inWorld(t, 1, replacing, func(t *testing.T, w *world) {
		e := w.elector("watch", w.both("watch"))
		st := w.both("a")
		var seen []election.Token
		var bidding atomic.Bool
		bidding.Store(true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for bidding.Load() {
				if l, err := e.Leader(t.Context()); err == nil {
					seen = append(seen, l.Token)
				}
			}
		}()
		time.Sleep(10 * time.Millisecond)
		for _, m := range w.masters { // slow enough to be seen
			w.SetLatency("a", m, simnet.Latency{Min: 3 * time.Millisecond, Max: 4 * time.Millisecond})
		}
		g := win(t, st, w.bid("a", "v"))
		time.Sleep(w.ttl / 10)
		bidding.Store(false)
		<-done
		settle(t, st)
		for _, token := range seen {
			if token != g.Token {
				t.Errorf("token %d was seen, the term has %d", token, g.Token)
			}
		}
		if len(seen) == 0 {
			t.Error("nobody was seen to lead")
		}
	})
}

// TestNobodyKnowsWhoLeads where a store is silent by which alone somebody may lead.
func TestNobodyKnowsWhoLeads(t *testing.T) {
	for name, silent := range map[string][]int{"first": apart.one, "second": apart.two[:2]} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				e := w.elector("a", w.both("a"))
				if _, err := e.Leader(t.Context()); !errors.Is(err, election.ErrNoLeader) {
					t.Errorf("in the beginning: %v", err)
				}
				for _, i := range silent {
					w.masters[i].Crash()
				}
				if _, err := e.Leader(t.Context()); !errors.Is(err, election.ErrUnreachable) || errors.Is(err, election.ErrNoLeader) {
					t.Errorf("with a silent store: %v", err)
				}
			})
		})
	}
}

// TestAsk: the leader hears of a request by whichever store it uses.
func TestAsk(t *testing.T) {
	eachLayout(t, func(t *testing.T, w *world) {
		asker := w.both("asker")
		if _, err := asker.Ask(t.Context(), election.HandOver{Token: 1}); !errors.Is(err, election.ErrNoLeader) {
			t.Errorf("a request to nobody: %v", err)
		}
		for name, st := range map[string]election.Store{"one": w.one("one"), "two": w.two("two"), "both": w.both("both")} {
			term := campaign(t, w.elector(name, st))
			if _, err := asker.Ask(t.Context(), election.HandOver{Token: term.Token() + 1}); err == nil {
				t.Errorf("%s: a request to another term was taken", name)
			}
			l, err := asker.Ask(t.Context(), election.HandOver{Token: term.Token()})
			if err != nil || l.ID != name {
				t.Errorf("%s: %q was asked, %v", name, l.ID, err)
			}
			<-term.Context().Done()
			var asked *election.AskedError
			if !errors.As(term.Loss(), &asked) {
				t.Errorf("%s: the term ended by %v", name, term.Loss())
			}
			if err := term.Resign(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}
