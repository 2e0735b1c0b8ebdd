package electiontest

import (
	"context"
	"sync"
	"time"

	"incumbent/election"
)

// memoryName is what Memory calls itself where a server's address would stand.
const memoryName = "memory"

// callLimit bounds every call, as a store must do by itself.
const callLimit = 5 * time.Second

// A Memory keeps the lease of one election in memory, for any number of
// electors. Methods named after a mishap make it happen; they may be called at
// any time, from any goroutine. Time is the Go runtime's, so that a
// testing/synctest bubble makes it virtual.
type Memory struct {
	mu      sync.Mutex
	lease   *memoryLease // the latest; it may have run out
	last    election.Token
	freed   election.Token // token of the term released last
	stolen  int
	subs    map[chan struct{}]bool
	asked   *election.HandOver // a request to the holder of the lease
	heir    string             // goes first until heirEnd
	heirEnd time.Time
	faults  memoryFaults
	calls   map[Op]int

	undoing int           // bids that are being undone
	settled chan struct{} // closed when none is any more
}

// memoryLease is what a server would keep under the lease key.
type memoryLease struct {
	value   string
	holder  election.Leader // Left is not kept
	expires time.Time
}

// NewMemory makes a store in which nobody has led yet.
func NewMemory() *Memory {
	return &Memory{subs: map[chan struct{}]bool{}, calls: map[Op]int{}}
}

// Elector makes a candidate. Options are as for election.New, but for Clock:
// nil means election.RuntimeClock, which follows virtual time. It panics when
// the options are wrong, since that is a mistake in the test.
func (m *Memory) Elector(o election.Options) election.Elector {
	if o.Clock == nil {
		o.Clock = election.RuntimeClock()
	}
	e, err := election.New(m.Store(), o)
	if err != nil {
		panic(err)
	}
	return e
}

// Store is the store itself, for election.New and for wrappers around it.
func (m *Memory) Store() election.Store { return memoryStore{m} }

// Token is the highest token that was issued; 0 before the first term.
func (m *Memory) Token() election.Token {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// Leader is who holds the lease, and whether anybody does.
func (m *Memory) Leader() (election.Leader, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.held(); l != nil {
		return l.leader(), true
	}
	return election.Leader{}, false
}

// held is the lease while it lasts, nil otherwise. m.mu is held.
func (m *Memory) held() *memoryLease {
	if m.lease == nil || !time.Now().Before(m.lease.expires) {
		return nil
	}
	return m.lease
}

// leader is the holder with the time that is left.
func (l *memoryLease) leader() election.Leader {
	who := l.holder
	who.Left = time.Until(l.expires)
	return who
}

// free ends the lease and wakes standbys, as a release does. It returns how
// many were woken. m.mu is held.
func (m *Memory) free() int {
	m.lease = nil
	return m.wake()
}

// wake sends a hint to every standby that can be reached. m.mu is held.
func (m *Memory) wake() int {
	if m.faults.deaf || m.faults.cut() {
		return 0
	}
	for hint := range m.subs {
		select {
		case hint <- struct{}{}:
		default: // one hint waits already
		}
	}
	return len(m.subs)
}

// subscribe returns a channel of hints that lives until ctx ends.
func (m *Memory) subscribe(ctx context.Context) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	hint := make(chan struct{}, 1)
	m.subs[hint] = true
	if m.held() == nil && !m.faults.deaf && !m.faults.cut() {
		hint <- struct{}{} // the release came before the subscription
	}
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.subs, hint)
	})
	return hint
}

// Wake sends a hint to every standby although nothing was released, as a store
// may.
func (m *Memory) Wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wake()
}

// Listeners is how many subscriptions to wake-ups are open.
func (m *Memory) Listeners() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.subs)
}
