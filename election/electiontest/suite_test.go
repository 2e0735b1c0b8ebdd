package electiontest_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// memory is a factory over Memory, in virtual time.
func memory(t *testing.T, test func(*testing.T, *electiontest.Setup)) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		test(t, &electiontest.Setup{
			Masters: 1, TTL: 3 * time.Second,
			Options: election.Options{Clock: election.RuntimeClock(), Logger: slog.New(slog.DiscardHandler)},
			Open:    m.Store,
			Lease: func(int) (string, time.Duration) {
				state, err := m.Store().Inspect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if s := state.Masters[0]; s.Holder != nil {
					return s.Value, s.Holder.Left
				}
				return "", 0
			},
			Delete: func(int) { m.Expire() },
			Wait:   time.Sleep, // of virtual time
		})
	})
}

func TestMemoryIsAStore(t *testing.T) { electiontest.RunStore(t, memory) }

func TestMemoryMakesElectors(t *testing.T) { electiontest.RunElector(t, memory) }
