package simnet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

func TestFreezeStopsAHost(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		start := time.Now()
		w.Freeze("a")
		time.AfterFunc(10*time.Second, func() { w.Thaw("a") })
		// It hangs between setting the deadline of the write and the write.
		must(t, c.Set(ctx, "k", "v", 0))
		near(t, "time of the answer", time.Since(start), 10*time.Second)
		holds(t, m, "k", "v") // the write still landed, long after its deadline
	})
}

func TestDeadlinePassesWhileFrozen(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		time.AfterFunc(150*time.Microsecond, func() { w.Freeze("a") }) // it is waiting for the answer
		time.AfterFunc(10*time.Second, func() { w.Thaw("a") })
		start := time.Now()
		if err := fails(t, c.Ping(ctx)); !isTimeout(err) {
			t.Errorf("PING: %v", err)
		}
		near(t, "time of the error", time.Since(start), 10*time.Second)
	})
}

func TestFreezeKeepsWhatArrives(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		patient := w.Client("a", m, func(o *redis.Options) { o.ReadTimeout = time.Minute })
		must(t, patient.Ping(ctx))
		got := make(chan error, 1)
		go func() { got <- patient.Set(ctx, "k", "v", 0).Err() }()
		time.Sleep(50 * time.Microsecond) // the request is on its way
		w.Freeze("a")
		if !w.Frozen("a") || w.Frozen("b") {
			t.Error("Frozen is wrong")
		}
		time.Sleep(10 * time.Second)
		holds(t, m, "k", "v")
		select {
		case err := <-got:
			t.Fatalf("a frozen host got an answer: %v", err)
		default:
		}
		w.Thaw("a")
		if err := <-got; err != nil {
			t.Errorf("after thawing: %v", err)
		}
	})
}

func TestFreezeStopsDials(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, _ *redis.Client) {
		w.Freeze("b")
		c := w.Client("b", m, func(o *redis.Options) { o.DialTimeout, o.ReadTimeout = time.Minute, time.Minute })
		got := make(chan error, 1)
		go func() { got <- c.Ping(ctx).Err() }()
		time.Sleep(time.Second)
		if n := m.Connections("b"); n != 0 {
			t.Errorf("a frozen host has %d connections", n)
		}
		w.Thaw("b")
		if err := <-got; err != nil {
			t.Errorf("after thawing: %v", err)
		}
	})
}

func TestGateOrderAndInstants(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		type passage struct {
			label string
			at    time.Time
		}
		passed := make(chan passage, 10)
		pass := func(label string) {
			gate := w.Gate("a", label)
			go func() {
				gate()
				passed <- passage{label, time.Now()}
			}()
		}
		pass("open")
		if p := <-passed; p.label != "open" {
			t.Fatal(p)
		}
		w.Freeze("a")
		pass("z")
		time.Sleep(time.Second)
		for _, label := range []string{"c", "a", "b"} {
			pass(label)
		}
		time.Sleep(time.Second)
		w.Thaw("a")
		var order []string
		var last time.Time
		for range 4 {
			p := <-passed
			if !p.at.After(last) {
				t.Errorf("%s passed at %v, not after the one before", p.label, p.at)
			}
			last = p.at
			order = append(order, p.label)
		}
		if !slices.Equal(order, []string{"z", "a", "b", "c"}) {
			t.Errorf("passed in order %q", order)
		}
	})
}

func TestThawDoesNotOpenAGateThatIsFrozenAgain(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		w.Freeze("a")
		gate, done := w.Gate("a", "x"), make(chan struct{})
		go func() { gate(); close(done) }()
		time.Sleep(time.Second)
		w.Thaw("a")
		w.Freeze("a")
		time.Sleep(time.Second)
		select {
		case <-done:
			t.Error("passed a frozen gate")
		default:
		}
		w.Thaw("a")
		<-done
	})
}
