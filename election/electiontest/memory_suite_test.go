package electiontest

import (
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
)

// virtual is a fresh election on a Memory, in virtual time.
func virtual(t *testing.T, test func(t *testing.T, s *Setup)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		test(t, &Setup{
			Masters: 1,
			TTL:     3 * time.Second,
			Options: election.Options{Clock: election.RuntimeClock()},
			Open:    m.Store,
			Lease: func(int) (string, time.Duration) {
				m.mu.Lock()
				defer m.mu.Unlock()
				if l := m.held(); l != nil {
					return l.value, l.leader().Left
				}
				return "", 0
			},
			Delete: func(int) { m.Expire() },
			Commands: func() (n int) {
				for _, op := range []Op{OpAcquire, OpRenew, OpRelease, OpInspect, OpListen} {
					n += m.Calls(op)
				}
				return n
			},
			Wait: func(d time.Duration) { <-time.After(d); synctest.Wait() },
		})
	})
}

// Memory keeps the promises that every store keeps.
func TestMemoryIsAStore(t *testing.T) { RunStore(t, virtual) }

func TestMemoryElectors(t *testing.T) { RunElector(t, virtual) }
