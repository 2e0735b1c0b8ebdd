package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// F04: thousands of terms over hundreds of elections, on the connections of one process,
// that end in every way: goroutines are back where they were, and the heap is flat. (The
// elector alone is played 10,000 times in package election.)
func TestF04_NothingIsLeftBehind(t *testing.T) {
	elections := map[int]int{1: 400, 3: 120}
	for masters, n := range elections {
		t.Run(fmt.Sprintf("masters=%d", masters), func(t *testing.T) {
			inWorld(t, 1, masters, func(t *testing.T, w *world) {
				clients := w.clients("host")
				play := func(from, to int) {
					for name := from; name < to; name++ {
						playCycles(t, w, clients, name, 10)
					}
				}
				play(0, 100) // connections, buffers and the like are made
				goroutines, heap := runtime.NumGoroutine(), liveHeap()
				play(100, n)
				time.Sleep(time.Second)
				if after := runtime.NumGoroutine(); after > goroutines+2 {
					t.Errorf("%d goroutines before, %d after", goroutines, after)
				}
				// What the simulated masters keep is theirs: a record an election.
				for _, m := range w.masters {
					m.FlushAll()
				}
				if grown := liveHeap() - heap; grown > 1<<20 {
					t.Errorf("the heap has grown by %d bytes", grown)
				}
			})
		})
	}
}

// playCycles leads and ends so many terms of one election, in different ways.
func playCycles(t *testing.T, w *world, clients []redis.UniversalClient, name, cycles int) {
	t.Helper()
	st := newStore(t, clients, fmt.Sprint("job-", name), w.opt)
	e, err := election.New(st, election.Options{ID: "a", TTL: time.Second, Logger: quiet, Clock: election.RuntimeClock()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range cycles {
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatalf("%d, %d: %v", name, i, err)
		}
		switch (name + i) % 4 {
		case 0: // released
			_ = term.Resign(t.Context())
		case 1: // gone before it is released
			for _, m := range w.masters {
				m.Evict(fmt.Sprintf("incumbent:{job-%d}:lease", name))
			}
			_ = term.Resign(t.Context())
		case 2: // a wait that is given up
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := e.Campaign(ctx); !errors.Is(err, election.ErrHeld) {
				t.Errorf("campaign while leading: %v", err)
			}
			cancel()
			_ = term.Resign(t.Context())
		case 3: // fenced
			term.Fenced(term.Token() + 1)
		}
	}
	if err := e.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
}

// liveHeap is how much memory is in use.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// F06: Close twice, and at the instant of a loss, over a real store.
func TestF06_CloseTwiceAndWithALoss(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		w.deleteLease(len(w.masters))
		done := make(chan error, 4)
		for range cap(done) {
			go func() { done <- e.Close(context.Background()) }()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Errorf("close: %v", err)
			}
		}
		if term.Valid() {
			t.Error("valid after Close")
		}
	})
}

// F11: who closes the client before the elector has taken from it what it needs to
// release. The error says so, nothing hangs, the work is told to stop in time, and the
// lease ends by itself.
func TestF11_ClientClosedBeforeTheRelease(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		const lease = 3 * time.Second
		clients := w.clients("a")
		e := w.electorOn("a", newStore(t, clients, "job", w.opt), ttl(lease))
		term := lead(t, e)
		for _, c := range clients {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		closed := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := e.Close(ctx); !errors.Is(err, election.ErrClientClosed) {
			t.Errorf("close: %v", err)
		}
		if took := time.Since(closed); took > time.Second {
			t.Errorf("close took %s", took)
		}
		if term.Valid() || term.Context().Err() == nil {
			t.Error("the term lives on")
		}
		other := w.store("b")
		time.Sleep(lease - time.Since(closed) + 10*time.Millisecond)
		if n := w.holders(""); n != len(w.masters) {
			t.Errorf("the lease is still held at %d of %d masters", len(w.masters)-n, len(w.masters))
		}
		win(t, other, bid("b", lease))
		settle(t, other)
	})
}

// F12: that a server does not know the scripts yet is no failure: the first calls after a
// start report none.
func TestF12_UnknownScriptsAreNoFailure(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var refused atomic.Int64
		w.OnCommand(func(c simnet.Command) {
			if strings.HasPrefix(c.Reply, "-NOSCRIPT") {
				refused.Add(1)
			}
		})
		var rec recorder
		e := w.elector("a", rec.on)
		term := lead(t, e)
		time.Sleep(5 * time.Second)
		for _, m := range w.masters {
			m.ScriptFlush()
		}
		time.Sleep(5 * time.Second)
		if n := refused.Load(); n < int64(2*len(w.masters)) {
			t.Errorf("the masters refused %d scripts: it was no test", n)
		}
		if n := len(rec.of(election.RenewFailed, election.BidRefused)); n != 0 || len(rec.of(election.Renewed)) < 8 {
			t.Errorf("%d failures and %d renewals: %v", n, len(rec.of(election.Renewed)), rec.of(election.RenewFailed, election.BidRefused))
		}
		if !term.Valid() {
			t.Errorf("the term has ended: %v", term.Loss())
		}
		shut(t, e)
	})
}
