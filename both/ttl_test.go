package both_test

import (
	"fmt"
	"testing"
	"time"

	"incumbent/election"
)

// Candidates of different TTL beside each other: guards last as long as the longest
// lease only where each candidate's MaxTTL says how long that is (R2).

const (
	shortTTL = time.Second
	longTTL  = 4 * time.Second
)

// ttlKinds are the candidates of a change from a short TTL to a long one.
func ttlKinds(store func(host string) election.Store) (short, wide, long kind) {
	return kind{"short", store, shortTTL, shortTTL}, kind{"wide", store, shortTTL, longTTL}, kind{"long", store, longTTL, longTTL}
}

// stores are the two kinds of store, each alone.
func (w *world) alone() map[string]func(host string) election.Store {
	return map[string]func(host string) election.Store{"single": w.one, "quorum": w.two}
}

// TestTTLChangeMaxTTLFirst raises MaxTTL everywhere, then the TTL; and lowers the TTL
// everywhere, then MaxTTL: under load and with faults, on both stores.
func TestTTLChangeMaxTTLFirst(t *testing.T) {
	for _, name := range []string{"single", "quorum"} {
		for seed := range uint64(10 / fewer) {
			t.Run(fmt.Sprintf("%s/seed=%d", name, seed+1), func(t *testing.T) {
				t.Parallel()
				inWorld(t, seed+1, apart, func(t *testing.T, w *world) {
					w.ttl, w.opt.AssumeNew = shortTTL, false
					m := &mover{rig: newRig(w)}
					short, wide, long := ttlKinds(w.alone()[name])
					m.fill(3, short)
					for _, k := range []kind{wide, long, wide, short} {
						m.phase(k)
					}
					_, wrong := m.history()
					m.end()
					for _, text := range wrong {
						t.Error(text)
					}
				})
			})
		}
	}
}

// TestTTLChangeOrderMatters: a leader with the long TTL is cut off, and the store
// loses lease and record. Whoever's MaxTTL is the long one waits until that leader
// knows that it is over; a candidate whose MaxTTL is still the short one, or is the
// short one already, does not.
func TestTTLChangeOrderMatters(t *testing.T) {
	for _, name := range []string{"single", "quorum"} {
		for i, overlap := range []bool{true, false, false} {
			inWorld(t, 1, apart, func(t *testing.T, w *world) {
				short, wide, long := ttlKinds(w.alone()[name])
				next := []kind{short, wide, long}[i]
				start := func(host string, k kind) election.Elector {
					return w.elector(host, k.store(host), func(o *election.Options) { o.TTL, o.MaxTTL = k.ttl, k.maxTTL })
				}
				leader := campaign(t, start("leader", long))
				w.opt.AssumeNew = false
				e := start("next", next)
				w.Isolate("leader")
				for _, m := range w.masters {
					m.FlushAll()
				}
				campaign(t, e)
				if leader.Valid() != overlap {
					t.Errorf("%s: a candidate of kind %s leads beside a leader of kind long: %v, want %v", name, next.name, leader.Valid(), overlap)
				}
				w.Rejoin("leader")
			})
		}
	}
}

// TestTTLAboveMaxTTLIsRefused: a candidate cannot have a lease that its own guards
// would not wait for. What others are configured with nobody knows.
func TestTTLAboveMaxTTLIsRefused(t *testing.T) {
	if err := (election.Options{TTL: longTTL, MaxTTL: shortTTL}).Validate(); err == nil {
		t.Error("no error")
	}
}
