package virtual_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
)

// TestMain lets the test binary be the child process of a pool.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("VIRTUAL_TEST_WORKER"); behaviour != "" {
		misbehave(behaviour)
		virtual.Worker(os.Stdin, os.Stdout)
	}
	logging.Disable()
	goleak.VerifyTestMain(m)
}

// play plays one run in a bubble.
func play(t *testing.T, s virtual.Spec) (run history.Run) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if run, err = virtual.Play(s); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// spec is a valid one.
func spec(seed uint64, mode string, masters int, fault string) virtual.Spec {
	return virtual.Spec{Seed: seed, Mode: mode, Masters: masters, Fault: fault, TTL: 2 * time.Second, Candidates: 3}
}
