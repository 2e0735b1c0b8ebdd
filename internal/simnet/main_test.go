package simnet_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"incumbent/internal/simnet"
)

func TestMain(m *testing.M) {
	logging.Disable() // go-redis reports failed dials on stderr, as it should elsewhere
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// world runs f in a bubble with a world of that seed.
func world(t *testing.T, seed uint64, opts simnet.Options, f func(t *testing.T, w *simnet.World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, err := simnet.New(seed, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		f(t, w)
	})
}

// fast gives a client timeouts of 100 ms.
func fast(o *redis.Options) {
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
}

// pair runs f with one master and one client, which is connected.
func pair(t *testing.T, f func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client)) {
	t.Helper()
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		c := w.Client("a", m, fast)
		must(t, c.Ping(t.Context()))
		f(t, w, m, c)
	})
}

// must fails the test if a command failed.
func must(t *testing.T, cmd redis.Cmder) {
	t.Helper()
	if err := cmd.Err(); err != nil {
		t.Fatalf("%v: %v", cmd.Args(), err)
	}
}

// fails fails the test if a command succeeded, and returns the error otherwise.
func fails(t *testing.T, cmd redis.Cmder) error {
	t.Helper()
	if cmd.Err() == nil {
		t.Fatalf("%v succeeded", cmd)
	}
	return cmd.Err()
}

// holds fails the test unless key has that value on m; "" means no key.
func holds(t *testing.T, m *simnet.Master, key, want string) {
	t.Helper()
	if got, _ := m.Get(key); got != want {
		t.Errorf("%s holds %q, want %q", key, got, want)
	}
}

var ctx = context.Background()
