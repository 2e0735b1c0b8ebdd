package config

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"incumbent/both"
	"incumbent/election"
	"incumbent/internal/vote"
	"incumbent/quorum"
	"incumbent/single"
)

// uses reports whether the selected mode needs the section of m.
func (c *Config) uses(m Mode) bool {
	return c.Mode == m || c.Mode == ModeBoth && (m == ModeQuorum || !c.replaces())
}

// replaces reports whether masters of a quorum are being replaced.
func (c *Config) replaces() bool { return c.Mode == ModeBoth && len(c.Quorum.NewMasters) > 0 }

// lists are the keys of the lists of masters that are in use, by store.
func (c *Config) lists() map[int]string {
	switch {
	case c.replaces():
		return map[int]string{0: "quorum.masters", 1: "quorum.new_masters"}
	case c.Mode == ModeBoth:
		return map[int]string{1: "quorum.masters"}
	case c.Mode == ModeQuorum:
		return map[int]string{0: "quorum.masters"}
	}
	return nil
}

// The names of the stores of ModeBoth, in states and errors.
func (c *Config) storeNames() (one, two string) {
	if c.replaces() {
		return "masters", "new_masters"
	}
	return string(ModeSingle), string(ModeQuorum)
}

// of are the masters of a store.
func (cl *Client) of(store int, masters []*vote.Master) (out []*vote.Master) {
	for i, m := range masters {
		if cl.servers[i].store == store {
			out = append(out, m)
		}
	}
	return out
}

// newBoth makes a store of two.
func (cl *Client) newBoth(name string, o vote.Options) (store, error) {
	var clients [2][]redis.UniversalClient
	for i, s := range cl.servers {
		clients[s.store] = append(clients[s.store], cl.clients[i])
	}
	var stores [2]election.Store
	for i, list := range clients {
		var err error
		if cl.cfg.lists()[i] != "" {
			stores[i], err = quorum.New(list, name, o)
		} else {
			stores[i], err = single.New(list[0], name, o)
		}
		if err != nil {
			return nil, err
		}
	}
	one, two := cl.cfg.storeNames()
	return both.New(stores[0], stores[1], both.Options{First: one, Second: two})
}

// once leaves out what is said of a server twice, since it serves both stores.
func once(found []Finding) (out []Finding) {
	seen := map[string]bool{}
	for _, f := range found {
		if s := f.String(); !seen[s] {
			seen[s] = true
			out = append(out, f)
		}
	}
	return out
}

// moving says what an operator wants to know during a move.
func (cl *Client) moving(ctx context.Context, name string, l looks) (out []Finding) {
	serves := map[string]int{} // run_id to the stores that it serves
	for i, st := range l.states {
		if st.RunID != "" {
			serves[st.RunID] |= 1 << cl.servers[i].store
		}
	}
	shared := make([]bool, len(l.states))
	for i, st := range l.states {
		shared[i] = serves[st.RunID] == 3
		if shared[i] && !cl.servers[i].votes {
			out = append(out, Finding{
				Severity: Info, Code: "shared-server", Server: l.names[i],
				Message: "the primary of single is a master of the quorum, too: while it is down nobody leads in mode both",
			})
		}
	}
	if name == "" {
		return out
	}
	return append(out, cl.standbys(ctx, name, shared))
}

// standbys compares who listens for releases in the one store and in the other: a
// candidate of both listens in both. shared are the servers of both stores.
func (cl *Client) standbys(ctx context.Context, name string, shared []bool) Finding {
	n, err := cl.listening(ctx, name)
	own, common, apart := [2]int{-1, -1}, [2]int{-1, -1}, [2]bool{}
	for i, s := range cl.servers {
		if shared[i] {
			common[s.store] = max(common[s.store], n[i])
		} else {
			own[s.store], apart[s.store] = max(own[s.store], n[i]), true
		}
	}
	for i := range own {
		if !apart[i] && common[i] >= 0 { // who listens in the other store listens here, too
			own[i] = max(0, common[i]-own[1-i])
		}
	}
	one, two := cl.cfg.storeNames()
	if own[0] < 0 || own[1] < 0 {
		return unknown("", fmt.Sprintf("how many standbys use %s, and how many %s, cannot be asked (PUBSUB NUMSUB)", one, two), err)
	}
	return difference(one, two, own[0], own[1])
}

// difference says what the numbers of those who listen in two stores show.
func difference(one, two string, n, m int) Finding {
	f := Finding{Severity: Info, Code: "standbys", Message: fmt.Sprintf(
		"%d listen in %s, %d in %s: standbys, and each incumbent observe; who leads does not listen", n, one, m, two)}
	if n == m {
		f.Remedy = "of N candidates, all of mode both, N-1 listen in each while one leads: if there are more, some use one store alone, " +
			"or are an incumbent observe, which may hide such a candidate: end them before the next step"
		return f
	}
	if n < m {
		n, m, one, two = m, n, two, one
	}
	f.Message += fmt.Sprintf("; %d or more listen in %s alone", n-m, one)
	f.Remedy = fmt.Sprintf("start no candidate that uses %s alone before these have gone; an incumbent observe of %s may be one of them: end it", two, one)
	return f
}

// listening counts the subscriptions to the releases of an election at each server:
// -1 where that is not known. The error says why.
func (cl *Client) listening(ctx context.Context, name string) ([]int, error) {
	n, errs := make([]int, len(cl.clients)), make([]error, len(cl.clients))
	masters, err := cl.masters(name)
	var wg sync.WaitGroup
	for i := range n {
		if n[i] = -1; err != nil {
			continue
		}
		wg.Go(func() {
			var count int
			if count, errs[i] = masters[i].Listeners(ctx); errs[i] == nil {
				n[i] = count
			}
		})
	}
	wg.Wait()
	return n, errors.Join(append(errs, err)...)
}
