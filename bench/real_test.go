package bench

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// small is a plan that takes a second or two.
func small(t *testing.T) Options {
	t.Helper()
	redistest.Require(t)
	t.Setenv("TMPDIR", t.TempDir())
	return Options{Modes: Modes()[:2], Rounds: MinRounds, Time: 300 * time.Millisecond, Seed: 3}
}

// run measures on servers that it starts.
func run(t *testing.T, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRun measures on real servers, and looks at all figures.
func TestRun(t *testing.T) {
	o := small(t)
	calls := 0
	o.Progress = func(done, total int) {
		if calls++; done != calls || total != MinRounds*len(Ops(o.Modes))*twins { // never fewer
			t.Errorf("after %d blocks it says %d of %d", calls, done, total)
		}
	}
	r := run(t, o)
	if len(r.Servers) != 3 || r.Server == "" || !r.Alone() {
		t.Errorf("servers %v (%s), alone: %t", r.Servers, r.Server, r.Alone())
	}
	for i, op := range Ops(o.Modes) {
		m := r.Ops[i]
		if m.Op != op {
			t.Errorf("operation %d is %s, want %s", i, m.Op, op)
		}
		if m.N < MinRounds*twins*minBlock || !(0 < m.P50 && m.P50 <= m.P90 && m.P90 <= m.P99) || len(m.Rounds) != MinRounds || r.Rounds != MinRounds {
			t.Errorf("%s: %d times, %g, %g, %g, %d rounds", op, m.N, m.P50, m.P90, m.P99, len(m.Rounds))
		}
		if !(m.XFloor.Lo <= m.XFloor.Median && m.XFloor.Median <= m.XFloor.Hi) || m.XFloor.Lo <= 0 {
			t.Errorf("%s: x floor is %+v", op, m.XFloor)
		}
		// Identical blocks come out alike, give or take what a busy machine does.
		if m.AA.Lo > 1.5 || m.AA.Hi < 0.66 {
			t.Errorf("%s: A/A is %+v", op, m.AA)
		}
	}
	t.Run("counts", func(t *testing.T) { testCounts(t, r) })
	t.Run("allocations", func(t *testing.T) { testAllocations(t, r) })
}

// testCounts: what is sent to each master is known exactly, and the servers agree.
func testCounts(t *testing.T, r *Result) {
	for _, tt := range []struct {
		name, mode string
		sent       map[string]float64
		inside     map[string]float64 // what scripts call; nil where it is not of interest
	}{
		{FloorRaw, "", map[string]float64{"ping": 1}, map[string]float64{}},
		{FloorPing, "", map[string]float64{"ping": 1}, map[string]float64{}},
		{FloorRenew, "", map[string]float64{"evalsha": 1}, map[string]float64{"get": 1, "pexpire": 1}},
		{FloorCycle, "", map[string]float64{"set": 1, "evalsha": 1}, map[string]float64{"get": 1, "del": 1}},
		{OpRenew, "single", map[string]float64{"evalsha": 1}, map[string]float64{"time": 1, "get": 1, "hmget": 1, "hset": 1, "pexpire": 2}},
		{OpRenew, "quorum3", map[string]float64{"evalsha": 1}, map[string]float64{"time": 1, "get": 1, "hmget": 1, "hset": 1, "pexpire": 2}},
		{OpAcquire, "single", map[string]float64{"evalsha": 1}, nil},
		{OpRelease, "quorum3", map[string]float64{"evalsha": 1}, nil},
		{OpAcquire, "quorum3", map[string]float64{"evalsha": 2}, nil}, // vote and seal
		{OpCycle, "quorum3", map[string]float64{"evalsha": 3}, nil},
		{OpRenew, "redsync3", map[string]float64{"evalsha": 1}, nil},
	} {
		m := r.Op(tt.name, tt.mode)
		if m == nil {
			t.Errorf("%s/%s was not measured", tt.name, tt.mode)
			continue
		}
		c := m.Counts
		if !maps.Equal(c.Sent, tt.sent) {
			t.Errorf("%s: sent %v a master, want %v", m.Op, c.Sent, tt.sent)
		}
		if inside := without(c.Executed, c.Sent); tt.inside != nil && !maps.Equal(inside, tt.inside) {
			t.Errorf("%s: inside scripts %v, want %v", m.Op, inside, tt.inside)
		}
		if !c.Alone() || c.ReceivedBytes < 14 || c.SentBytes < 4 || c.ReceivedBytes > 2000 || c.SentBytes > 500 {
			t.Errorf("%s: bytes: client %g/%g, server %g/%g", m.Op, c.ReceivedBytes, c.SentBytes, c.ServerReceived, c.ServerSent)
		}
	}
	if c := r.Op(FloorRaw, "").Counts; c.ReceivedBytes != float64(len(rawPing)) || c.SentBytes != float64(len(rawPong)) {
		t.Errorf("a PING is %g/%g bytes, want %d/%d", c.ReceivedBytes, c.SentBytes, len(rawPing), len(rawPong))
	}
}

// without is what is in a beyond b.
func without(a, b map[string]float64) map[string]float64 {
	d := map[string]float64{}
	for name, n := range a {
		if n -= b[name]; n != 0 {
			d[name] = n
		}
	}
	return d
}

// testAllocations: bounds well above what renewals allocate, so that only a new habit of
// allocating breaks them.
func testAllocations(t *testing.T, r *Result) {
	for mode, most := range map[string]uint64{"single": 60, "quorum3": 250} {
		if h := r.Op(OpRenew, mode).Heap; h.Allocs == 0 || h.Allocs > most || h.Bytes < h.Allocs {
			t.Errorf("a renewal of %s allocates %d times, %d bytes, want at most %d times", mode, h.Allocs, h.Bytes, most)
		}
	}
	if h := r.Op(FloorRaw, "").Heap; h.Allocs > 3 {
		t.Errorf("a bare PING allocates %d times", h.Allocs)
	}
}

// TestPlanted: a gate sees an operation that became slow, and nothing where none did.
func TestPlanted(t *testing.T) {
	g, err := ParseGate("renew/single<=8xfloor")
	if err != nil {
		t.Fatal(err)
	}
	o := small(t)
	o.Modes, o.Rounds, o.Time = Modes()[:1], 20, 3*time.Second // of six rounds the interval goes from the least to the most
	if got := Check(run(t, o), []Gate{g}); got[0].Status == Missed {
		t.Errorf("without a slow operation: %+v", got)
	}
	o.plant = func(op *operation) {
		if op.Name == OpRenew && op.Mode == "single" {
			fast := op.do
			op.do = func(ctx context.Context) error {
				time.Sleep(10 * time.Millisecond)
				return fast(ctx)
			}
		}
	}
	if got := Check(run(t, o), []Gate{g}); got[0].Status != Missed {
		t.Errorf("with a slow operation: %+v", got)
	}
}

// TestGivenServers: keys are removed, of others nothing is touched, and who else uses the
// server is seen.
func TestGivenServers(t *testing.T) {
	o := small(t)
	s := redistest.StartT(t, redisproc.Options{Password: "hunter2"})
	o.Modes, o.Servers = Modes()[:1], []string{"redis://default:hunter2@" + s.Addr()}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Password: "hunter2"})
	defer c.Close()
	if err := c.Set(t.Context(), "other", "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // another user of the server
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = c.Ping(context.Background()).Err() // it ends with the server at the latest
			}
		}
	}()
	r := run(t, o)
	close(stop)
	<-stopped
	if r.Alone() {
		t.Error("another client went unnoticed")
	}
	renew := r.Op(OpRenew, "single").Counts
	if renew.Commands() != 1 || renew.Executed["ping"] == 0 || renew.ServerReceived <= renew.ReceivedBytes {
		t.Errorf("counts are %+v", renew)
	}
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 1 || keys[0] != "other" {
		t.Errorf("keys left: %v, %v", keys, err)
	}
	if r.Servers[0] != s.Addr() {
		t.Errorf("the result names the server %q", r.Servers[0])
	}
}

// TestInterrupted: keys are removed also when somebody stops it halfway.
func TestInterrupted(t *testing.T) {
	o := small(t)
	s := redistest.StartT(t, redisproc.Options{})
	o.Modes, o.Servers = Modes()[:1], []string{s.Addr()}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	enough := errors.New("enough")
	o.Progress = func(done, total int) {
		if done == total/2 {
			cancel(enough)
		}
	}
	var left *CleanError
	if _, err := Run(ctx, o); !errors.Is(err, enough) || errors.As(err, &left) {
		t.Errorf("error is %v", err)
	}
	early, stop := context.WithCancelCause(t.Context())
	stop(enough)
	if _, err := Run(early, o); !errors.Is(err, enough) {
		t.Errorf("before anything was counted: error is %v", err)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer c.Close()
	if n, err := c.DBSize(t.Context()).Result(); err != nil || n != 0 {
		t.Errorf("%d keys left, %v", n, err)
	}
}

// TestNotCleaned: a server that is gone when its keys are to be removed is told apart from
// the interrupt.
func TestNotCleaned(t *testing.T) {
	o := small(t)
	s := redistest.StartT(t, redisproc.Options{})
	o.Modes, o.Servers = Modes()[:1], []string{s.Addr()}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(done, total int) {
		if done == total/2 {
			cancel()
			if err := s.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	var left *CleanError
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) || !errors.As(err, &left) {
		t.Errorf("error is %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	o := Options{Modes: Modes()[:1], Servers: []string{"127.0.0.1:1"}}
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("it measured a server that is not there")
	}
}
