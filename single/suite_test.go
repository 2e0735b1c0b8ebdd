package single_test

import (
	"testing"

	"incumbent/election/electiontest"
)

func TestStoreInVirtualTime(t *testing.T) { electiontest.RunStore(t, virtual) }

func TestElectorInVirtualTime(t *testing.T) { electiontest.RunElector(t, virtual) }
