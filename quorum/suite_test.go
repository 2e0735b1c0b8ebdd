package quorum_test

import (
	"fmt"
	"testing"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func virtualSetup(masters int) electiontest.Factory {
	return func(t *testing.T, test func(*testing.T, *electiontest.Setup)) {
		inWorld(t, 1, masters, func(t *testing.T, w *world) {
			w.opt.GuardsOff = election.AllGuards // to the suite a lease that is gone is free
			test(t, w.setup())
		})
	}
}

func TestStoreInVirtualTime(t *testing.T) {
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprintf("masters=%d", n), func(t *testing.T) {
			t.Parallel()
			electiontest.RunStore(t, virtualSetup(n))
		})
	}
}

func TestElectorInVirtualTime(t *testing.T) {
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprintf("masters=%d", n), func(t *testing.T) {
			t.Parallel()
			electiontest.RunElector(t, virtualSetup(n))
		})
	}
}
