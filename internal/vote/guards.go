package vote

import (
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// guardLetters are how the acquire script knows the guards that it applies. The
// clock guard is applied here: no server can see its own clock jump.
var guardLetters = []struct {
	letter string
	guard  election.StoreGuards
}{
	{"r", election.RestartGuard},
	{"f", election.FailoverGuard},
	{"n", election.NoRecordGuard},
	{"e", election.ExpiryGuard},
	{"h", election.HandOverGuard}, // always on: the script does not look for it
}

// letters is the set as the script reads it.
func letters(g election.StoreGuards) string {
	s := ""
	for _, l := range guardLetters {
		if g.Has(l.guard) {
			s += l.letter
		}
	}
	return s
}

// guards is the set that the script names.
func guards(s string) (g election.StoreGuards) {
	for _, l := range guardLetters {
		if strings.Contains(s, l.letter) {
			g |= l.guard
		}
	}
	return g
}

// longest is the longest lease that any candidate may hold (R2).
func longest(b election.Bid) time.Duration { return max(b.TTL, b.MaxTTL) }

// distrusted is the answer of a master that is not asked, since its clock has
// jumped ahead (R8).
func (m *Master) distrusted(longest time.Duration) (Reply, bool) {
	if !m.Guards.Has(election.ClockGuard) {
		return Reply{}, false
	}
	left := m.clock.distrust(longest)
	return Reply{Status: "guarded", Guards: election.ClockGuard, Left: left}, left > 0
}

// judge looks at a reply to a bid: what it tells of the server, and whether a
// grant may be used.
func (m *Master) judge(r Reply, longest time.Duration) Reply {
	switch r.Status {
	case "granted", "held", "guarded":
		if r.Status != "guarded" || r.Guards&^election.RestartGuard != 0 {
			m.known.Store(true)
		}
		m.met(r.RunID)
		m.say(r)
	}
	if r.Status != "granted" {
		return r
	}
	if d, ok := m.distrusted(longest); ok {
		d.Stands, d.Now, d.Token, d.RunID = true, r.Now, r.Token-1, r.RunID
		return d
	}
	return r
}

// Together makes masters of one election share what is known of it: a record at
// one of them says that the election is not new at the others.
func Together(masters []*Master) {
	for _, m := range masters[1:] {
		m.known = masters[0].known
	}
}

// met notes which server answered. Where another one did before, those who listen
// there are moved here: that one may go on as a replica, or cut off, and releases
// are published where leases are.
func (m *Master) met(runID string) {
	if runID == "" {
		m.runID.Store(nil)
		return
	}
	old := m.runID.Load()
	if old != nil && *old == runID {
		return
	}
	m.runID.Store(&runID)
	if old != nil {
		m.ears.move()
	}
}

// metByInfo is met for what INFO says. In a Cluster any node may answer that, and not
// the one that keeps the lease.
func (m *Master) metByInfo(runID string) {
	if _, anyNode := m.client.(*redis.ClusterClient); !anyNode {
		m.met(runID)
	}
}

// RunID is the server that answered last; "" if none did or it hides itself.
func (m *Master) RunID() string {
	if id := m.runID.Load(); id != nil {
		return *id
	}
	return ""
}

// say tells people once what guards cannot do here.
func (m *Master) say(r Reply) {
	switch {
	case r.Note == "hidden" && m.Guards&(election.RestartGuard|election.FailoverGuard) != 0:
		m.warnOnce("hidden", "the server hides run_id or uptime: the restart and failover guards stand down there")
	case r.Note == "restless":
		m.warnOnce("restless", "the server shows another run_id each time, as a proxy may: the failover guard stands down there")
	}
}

// told remembers which warnings were given.
type told struct {
	mu   sync.Mutex
	keys map[string]bool
}

// first reports whether this is the first time that key comes up.
func (s *told) first(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[key] {
		return false
	}
	if s.keys == nil {
		s.keys = map[string]bool{}
	}
	s.keys[key] = true
	return true
}

// warnOnce warns of something about this master the first time.
func (m *Master) warnOnce(key, msg string, args ...any) {
	if m.Warn != nil && m.told.first(key) {
		m.Warn(msg, append([]any{"master", m.Name}, args...)...)
	}
}
