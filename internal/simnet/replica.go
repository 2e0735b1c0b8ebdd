package simnet

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// There is no replication. A replica is a master of its own that copies another
// one at the instant at which replication is to have stopped, and is promoted by
// having hosts redirected to it.

// CopyFrom replaces all that m stores by what database 0 of other holds now: that
// is what a replica of other has which was in sync until now, or a file that other
// has just written. It begins a new line of replication (master_replid) and
// remembers that of other (master_replid2), as a replica does that is promoted.
// Keys keep the instant at which they expire, which m judges by its own clock; those
// past it are gone. Both may be in any state. It panics at a key that is not a
// string, hash, list, set or sorted set.
func (m *Master) CopyFrom(other *Master) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if other == m {
		return
	}
	other.tick()
	m.tick()
	m.redis.FlushAll()
	m.replID2 = other.replID
	m.newLine()
	now := time.Now()
	ahead := m.clock.at(now).Sub(other.clock.at(now))
	for _, key := range other.redis.Keys() {
		left := other.redis.TTL(key)
		if left > 0 && left <= ahead {
			continue
		}
		m.copyKey(other, key)
		if left > 0 {
			m.redis.SetTTL(key, left-ahead)
		}
	}
}

// copyKey copies the value of a key. Nothing here can fail: the key exists, has
// the type that it says, and is new to m.
func (m *Master) copyKey(other *Master, key string) {
	from, to := other.redis, m.redis
	switch kind := from.Type(key); kind {
	case "string":
		v, _ := from.Get(key)
		_ = to.Set(key, v)
	case "hash":
		fields, _ := from.HKeys(key)
		for _, f := range fields {
			to.HSet(key, f, from.HGet(key, f))
		}
	case "list":
		items, _ := from.List(key)
		_, _ = to.Push(key, items...)
	case "set":
		items, _ := from.Members(key)
		_, _ = to.SetAdd(key, items...)
	case "zset":
		scores, _ := from.SortedSet(key)
		for member, score := range scores {
			_, _ = to.ZAdd(key, score, member)
		}
	default:
		panic(fmt.Sprintf("simnet: CopyFrom: key %q is a %s: only strings, hashes, lists, sets and sorted sets can be copied", key, kind))
	}
}

// Redirect has host reach to under the address of from, as a client of Sentinel
// does after a failover; to being from undoes it. The connections that host has
// under that address are reset, and no dial under way reaches the old one any
// more. Cuts, delays and counts belong to the link between a host and the master
// that is really reached: a reset that meets a cut is lost.
func (w *World) Redirect(host string, from, to *Master) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.host(host)
	old := h.reaches(from)
	if old == to {
		return
	}
	if h.routes == nil {
		h.routes = map[*Master]*Master{}
	}
	h.routes[from] = to
	for _, c := range w.link(h, old).conns {
		if c.dialed == from {
			old.reset(c)
		}
	}
}

// reaches is the master that is reached under the address of m. w.mu is held.
func (h *host) reaches(m *Master) *Master {
	if to := h.routes[m]; to != nil {
		return to
	}
	return m
}

// SetAcks sets what WAIT answers, at once and whatever it is asked for: how many
// replicas have acknowledged all that was written. Zero at first. It is also how
// many replicas INFO shows.
func (m *Master) SetAcks(n int) {
	if n < 0 {
		panic(fmt.Sprintf("simnet: SetAcks(%d): must not be negative", n))
	}
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.acks = n
}

// acknowledgeable reports whether args are those of a WAIT without mistakes.
func acknowledgeable(args []string) bool {
	return len(args) == 2 && !slices.ContainsFunc(args, func(a string) bool {
		n, err := strconv.Atoi(a)
		return err != nil || n < 0
	})
}
