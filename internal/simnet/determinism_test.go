package simnet_test

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

// A history is what happened in one world, in lines that are sorted by time,
// actor and number.
type history struct {
	mu    sync.Mutex
	lines []line
	n     map[string]int
}

type line struct {
	at    time.Time
	actor string
	n     int
	text  string
}

func (h *history) add(actor, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n[actor]++
	h.lines = append(h.lines, line{time.Now(), actor, h.n[actor], fmt.Sprintf(format, args...)})
}

func (h *history) String() string {
	slices.SortFunc(h.lines, func(a, b line) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.actor, b.actor), cmp.Compare(a.n, b.n))
	})
	var b strings.Builder
	for _, l := range h.lines {
		fmt.Fprintf(&b, "%s %s#%d %s\n", l.at.Format("05.000000000"), l.actor, l.n, l.text)
	}
	return b.String()
}

var bump = redis.NewScript(`
	local t = redis.call('TIME')
	if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 300) then
		redis.pcall('PUBLISH', 'woken', ARGV[1])
	end
	return {t[1], t[2], redis.call('PTTL', KEYS[1]), redis.call('INCR', KEYS[2])}`)

// An actor is a host that asks all masters at once, time and again, and acts on
// the order in which they answer, as a quorum's candidate does.
type actor struct {
	w       *simnet.World
	h       *history
	name    string
	src     *simnet.Source
	gate    func()
	clients []*redis.Client
	others  []*redis.Client // to the same masters
}

func (a *actor) run(ctx context.Context) {
	sub := a.clients[0].Subscribe(ctx, "woken")
	var wg sync.WaitGroup
	wg.Go(func() {
		for msg := range sub.Channel() {
			a.h.add(a.name+"/sub", "woken by %s", msg.Payload)
			err := a.clients[1].Set(ctx, "woken by", msg.Payload, 0).Err()
			a.h.add(a.name+"/sub", "%v", err)
		}
	})
	for i := 0; ctx.Err() == nil; i++ {
		a.ask(ctx)
		time.Sleep(a.src.Until(a.src.Between(10*time.Millisecond, 200*time.Millisecond)))
		a.gate()
	}
	sub.Close()
	wg.Wait()
}

// ask votes and, on the second answer, writes to the master that gave it, while
// the third may be outstanding. Beside that, it sends another command over each of
// the same links in the same instant.
func (a *actor) ask(ctx context.Context) {
	var wg sync.WaitGroup
	answers := make(chan int)
	for j, c := range a.clients {
		wg.Go(func() {
			v, err := bump.Run(ctx, c, []string{"lease", "count"}, a.name).Result()
			a.h.add(fmt.Sprint(a.name, "/", j), "%v %v", v, err)
			answers <- j
		})
		wg.Go(func() {
			err := a.others[j].Set(ctx, "k"+a.name, "v", 50*time.Millisecond).Err()
			a.h.add(fmt.Sprint(a.name, "/set", j), "%v", err)
		})
	}
	for i := range a.clients {
		j := <-answers
		if ctx.Err() != nil {
			continue // that ended them all at once
		}
		a.h.add(a.name, "answer %d is that of %d", i, j)
		if i == 1 {
			wg.Go(func() {
				err := a.clients[j].Incr(ctx, "second").Err()
				a.h.add(a.name+"/second", "%v", err)
			})
		}
	}
	wg.Wait()
}

// misfortune strikes at random.
func misfortune(w *simnet.World, h *history, masters []*simnet.Master, until time.Time) {
	src := w.Source("faults")
	for time.Now().Before(until) {
		time.Sleep(src.Until(src.Between(20*time.Millisecond, 300*time.Millisecond)))
		host := hosts[src.Uint64()%uint64(len(hosts))]
		m := masters[src.Uint64()%uint64(len(masters))]
		fault := src.Uint64() % 10
		h.add("faults", "%d %s %s", fault, host, m.Name())
		undo := strike(w, host, m, fault)
		time.Sleep(src.Until(src.Between(time.Millisecond, 500*time.Millisecond)))
		h.add("faults", "over")
		undo()
	}
}

func strike(w *simnet.World, host string, m *simnet.Master, fault uint64) (undo func()) {
	switch fault {
	case 0:
		w.Cut(host, m)
	case 1:
		w.CutReplies(host, m)
	case 2:
		w.Isolate(host)
		return func() { w.Rejoin(host) }
	case 3:
		m.Hang()
		return m.Resume
	case 4:
		m.Crash()
		return func() { m.Restart(true) }
	case 5:
		w.Freeze(host)
		return func() { w.Thaw(host) }
	case 6:
		m.JumpClock(100 * time.Millisecond)
		return func() { m.JumpClock(-150 * time.Millisecond) }
	case 7:
		m.DropReply(host, "", 1, simnet.Reset)
		m.ScriptFlush()
		return func() {}
	case 8:
		w.Slow(host, m, 40*time.Millisecond)
		return func() { w.Slow(host, m, 0) }
	case 9:
		return promote(w, m)
	}
	return func() { w.Heal(host, m) }
}

// promote lets all hosts reach a replica of m, and then m again with what was
// written meanwhile.
func promote(w *simnet.World, m *simnet.Master) (undo func()) {
	r := w.AddMaster(fmt.Sprint(m.Name(), " at ", time.Now().UnixNano()))
	r.CopyFrom(m)
	redirect := func(to *simnet.Master) {
		for _, host := range hosts {
			w.Redirect(host, m, to)
		}
	}
	redirect(r)
	return func() {
		m.CopyFrom(r)
		redirect(m)
	}
}

var hosts = []string{"a", "b", "c"}

// live returns the history of one world.
func live(t *testing.T, seed uint64, span time.Duration) string {
	h := &history{n: map[string]int{}}
	synctest.Test(t, func(t *testing.T) {
		w, err := simnet.New(seed, simnet.Options{Loss: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		var masters []*simnet.Master
		for i := range 3 {
			masters = append(masters, w.AddMaster(fmt.Sprint("m", i)))
		}
		w.OnCommand(func(c simnet.Command) {
			h.add(c.Host+">"+c.Master, "%q %q", c.Args, c.Reply)
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, name := range hosts {
			a := &actor{w: w, h: h, name: name, src: w.Source(name), gate: w.Gate(name, "timer")}
			for _, m := range masters {
				a.clients = append(a.clients, w.Client(name, m, fast))
				// In one pool, chance would decide who gets the idle connection.
				a.others = append(a.others, w.Client(name, m, fast))
			}
			wg.Go(func() { a.run(ctx) })
		}
		misfortune(w, h, masters, time.Now().Add(span))
		cancel()
		wg.Wait()
		w.Close()
	})
	return h.String()
}

func TestSameSeedSameHistory(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	seeds, lines, different := uint64(100), 0, 0
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		runtime.GOMAXPROCS(1)
		one := live(t, seed, 3*time.Second)
		runtime.GOMAXPROCS(2)
		two := live(t, seed, 3*time.Second)
		lines += strings.Count(one, "\n")
		if one != two {
			different++
			if different <= 3 {
				t.Errorf("seed %d: %s", seed, firstDifference(one, two))
			}
		}
	}
	t.Logf("%d lines, %d seeds differ", lines, different)
	if lines < 100*int(seeds) {
		t.Errorf("only %d lines in %d histories", lines, seeds)
	}
	if different > 0 {
		t.Errorf("%d of %d seeds have two histories", different, seeds)
	}
	if live(t, 1, time.Second) == live(t, 2, time.Second) {
		t.Error("two seeds have one history")
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d of %d\n  %s\n  %s\n  %s\n  %s", i, len(x), x[max(0, i-2)], x[max(0, i-1)], x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}
