package both_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// campaigns lets candidates of both stores campaign for so many TTLs, and says how
// many commands each of them sends a master in a TTL. It stops when that is above
// most in any case.
func (w *world) campaigns(t *testing.T, candidates, ttls int, most float64) float64 {
	w.SetNative(natives)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range candidates {
		host := fmt.Sprintf("standby-%d", i)
		e := w.elector(host, w.both(host))
		go func() {
			term, err := e.Campaign(ctx)
			if err == nil {
				<-term.Context().Done()
			}
		}()
	}
	count := func() (n int) {
		for i := range candidates {
			n += w.commands(fmt.Sprintf("standby-%d", i))
		}
		return n
	}
	all := candidates * len(w.layout.all) * ttls
	const steps = 100
	begun := 0 // with what a beginning costs: looks at the server, scripts, subscriptions
	for i := range steps {
		time.Sleep(time.Duration(ttls) * w.ttl / steps)
		if i == steps/10 {
			begun = count()
		}
		if float64(count()) > 2*most*float64(all) {
			break
		}
	}
	return float64(count()-begun) / (float64(all) * 0.9)
}

// TestStandbysDoNotWakeEachOther: candidates of both stores sleep while somebody
// leads by either store, or nobody can. Without a look before they take anything each
// would take the first lease, be refused the second, and wake the others.
func TestStandbysDoNotWakeEachOther(t *testing.T) {
	const candidates, ttls = 4 + 4/fewer, 10 + 10/fewer // of which the first tenth does not count
	leader := func(f func(*world) election.Store) func(*testing.T, *world) {
		return func(t *testing.T, w *world) { campaign(t, w.elector("leader", f(w))) }
	}
	refuse := func(why simnet.Refusal) func(*testing.T, *world) {
		return func(_ *testing.T, w *world) {
			for _, i := range w.layout.two {
				w.masters[i].Refuse(why)
			}
		}
	}
	for _, c := range []struct {
		name  string
		begin func(*testing.T, *world)
		most  float64 // commands a standby, master and TTL
	}{
		{"the first store's leader", leader(func(w *world) election.Store { return w.one("leader") }), 1.5},
		{"a leader by both", leader(func(w *world) election.Store { return w.both("leader") }), 1.5},
		{"the second store's leader", leader(func(w *world) election.Store { return w.two("leader") }), 1.5},
		{"the second store is down", func(_ *testing.T, w *world) {
			for _, i := range w.layout.two {
				w.masters[i].Crash()
			}
		}, 12},
		{"the second store is full", refuse(simnet.OutOfMemory), 15},
		{"the second store is a replica", refuse(simnet.ReadOnly), 15},
	} {
		for _, l := range []layout{apart, sharing} {
			t.Run(c.name+"/"+l.name, func(t *testing.T) {
				t.Parallel()
				inWorld(t, 1, l, func(t *testing.T, w *world) {
					c.begin(t, w)
					n := w.campaigns(t, candidates, ttls, c.most)
					t.Logf("%.2f commands a standby, master and TTL", n)
					if n > c.most {
						t.Errorf("%.1f commands a standby, master and TTL, at most %.1f", n, c.most)
					}
				})
			})
		}
	}
}

// TestStandbysWaitForGuards: nobody polls while guards wait, and nobody waits for
// one guard after the other.
func TestStandbysWaitForGuards(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, 1, l, func(t *testing.T, w *world) {
				w.opt.AssumeNew = false
				const candidates = 8
				start := time.Now()
				won := make(chan time.Duration, candidates)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				for i := range candidates {
					host := fmt.Sprintf("standby-%d", i)
					e := w.elector(host, w.both(host))
					go func() {
						if _, err := e.Campaign(ctx); err == nil {
							won <- time.Since(start)
						}
					}()
				}
				if d := <-won; d < w.ttl || d > w.ttl+w.ttl/4 {
					t.Errorf("led after %s, a guard lasts %s", d, w.ttl)
				}
				n := float64(w.commands("")) / float64(candidates*len(w.layout.all))
				t.Logf("%.1f commands a candidate and master until one leads", n)
				if n > 12 { // INFO, loading scripts, two bids, subscription
					t.Errorf("%.1f commands a candidate and master until one leads", n)
				}
			})
		})
	}
}

// TestAFewGuardsAreNotWaitedFor: one master is held by somebody who has no majority,
// one waits for a guard, one is free. Soon the first may be free, too.
func TestAFewGuardsAreNotWaitedFor(t *testing.T) {
	inWorld(t, 1, apart, func(t *testing.T, w *world) {
		first := w.both("first")
		g := win(t, first, w.bid("a", "a"))
		settle(t, first)
		if _, err := first.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, first)
		w.masters[0].Restart(true)
		w.opt.AssumeNew = false
		rival := w.on("rival", []int{1})
		win(t, rival, w.bid("z", "z"))
		settle(t, rival)
		st := w.both("next")
		_, err := st.Acquire(t.Context(), w.bid("b", "b"))
		if !errors.Is(err, election.ErrContended) {
			t.Errorf("a bid while one master of three waits: %v", err)
		}
		settle(t, st)
		w.masters[1].Evict(leaseKey)
		w.masters[1].Do("HSET", recordKey, "until", "0")
		if g := win(t, st, w.bid("b", "b2")); g.Held != 3 {
			t.Errorf("held by %d", g.Held)
		}
		settle(t, st)
	})
}

// TestGuardsRunBesideALeader who knows only the other store: the hand-over to a
// candidate of both does not have to wait for them.
func TestGuardsRunBesideALeader(t *testing.T) {
	for name, f := range map[string]func(*world) (known election.Store){
		"first":  func(w *world) election.Store { return w.one("leader") },
		"second": func(w *world) election.Store { return w.two("leader") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				w.opt.AssumeNew = false
				leader := campaign(t, w.elector("leader", f(w)))
				e := w.elector("next", w.both("next"))
				won := make(chan time.Time)
				go func() {
					if _, err := e.Campaign(t.Context()); err == nil {
						won <- time.Now()
					}
				}()
				time.Sleep(2 * w.ttl)
				resigned := time.Now()
				if err := leader.Resign(t.Context()); err != nil {
					t.Fatal(err)
				}
				if d := (<-won).Sub(resigned); d > w.ttl/10 {
					t.Errorf("the hand-over took %s", d)
				}
			})
		})
	}
}
