package both_test

import (
	"testing"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func virtual(l layout) electiontest.Factory {
	return func(t *testing.T, test func(*testing.T, *electiontest.Setup)) {
		inWorld(t, 1, l, func(t *testing.T, w *world) {
			w.opt.GuardsOff = election.AllGuards // to the suite a lease that is gone is free
			test(t, w.setup())
		})
	}
}

func TestStoreInVirtualTime(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			electiontest.RunStore(t, virtual(l))
		})
	}
}

func TestElectorInVirtualTime(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			electiontest.RunElector(t, virtual(l))
		})
	}
}
