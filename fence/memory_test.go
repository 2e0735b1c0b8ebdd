package fence_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/fence"
)

func memoryResource() (*fence.Memory, resource) {
	m, value := &fence.Memory{}, ""
	return m, resource{
		guard: m,
		write: func(ctx context.Context, token election.Token, v string) error {
			return m.Do(ctx, token, func(context.Context) error { value = v; return nil })
		},
		read: func() string { return value },
	}
}

func TestMemoryGap(t *testing.T) {
	_, r := memoryResource()
	testGap(t, r)
}

func TestMemoryInvalidToken(t *testing.T) {
	_, r := memoryResource()
	testInvalid(t, r)
}

func TestMemoryKnown(t *testing.T) {
	m := &fence.Memory{Name: "ledger"}
	if m.Known() != 0 {
		t.Errorf("new: %d is known", m.Known())
	}
	check(t, m.Raise(t.Context(), 7))
	err := m.Raise(t.Context(), 6)
	if m.Known() != 7 || err == nil || !strings.HasPrefix(err.Error(), "ledger: ") {
		t.Errorf("%d is known, and %v", m.Known(), err)
	}
	failed := errors.New("failed")
	if err := m.Do(t.Context(), 8, func(context.Context) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want the act's own error", err)
	}
	if m.Known() != 8 {
		t.Errorf("%d is known after an act of 8 that failed", m.Known())
	}
}

// begun starts an act that ends when asked to.
type begun struct {
	ctx  context.Context
	stop chan struct{}
	done chan error
}

func begin(ctx context.Context, m *fence.Memory, token election.Token) *begun {
	b := &begun{stop: make(chan struct{}), done: make(chan error, 1)}
	started := make(chan struct{})
	go func() {
		b.done <- m.Do(ctx, token, func(ctx context.Context) error {
			b.ctx = ctx
			close(started)
			<-b.stop
			return nil
		})
	}()
	<-started
	return b
}

func (b *begun) finish(t *testing.T) {
	t.Helper()
	close(b.stop)
	check(t, <-b.done)
}

// background calls f, and says whether it has returned once all others wait.
func background(f func() error) (done chan error, returned func() bool) {
	done = make(chan error, 1)
	go func() { done <- f() }()
	return done, func() bool { synctest.Wait(); return len(done) > 0 }
}

func TestMemoryRaiseWaitsForActsOfLowerTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fence.Memory{}
		one, two := begin(t.Context(), m, 5), begin(t.Context(), m, 5)
		raise, returned := background(func() error { return m.Raise(t.Context(), 6) })
		if returned() {
			t.Fatal("Raise returned while acts were under way")
		}
		for _, b := range []*begun{one, two} {
			wantFenced(t, context.Cause(b.ctx), 5, 6)
		}
		wantFenced(t, m.Do(t.Context(), 5, func(context.Context) error { return nil }), 5, 6)
		one.finish(t)
		if returned() {
			t.Fatal("Raise returned while one act was under way")
		}
		two.finish(t)
		check(t, <-raise)
	})
}

func TestMemoryRaiseGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fence.Memory{}
		act := begin(t.Context(), m, 5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := m.Raise(ctx, 6)
		wantNotFenced(t, err)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nothing is certain") {
			t.Errorf("got %v", err)
		}
		if m.Known() != 6 {
			t.Errorf("%d is known, want the token to stay lifted", m.Known())
		}
		wantFenced(t, m.Do(t.Context(), 5, func(context.Context) error { return nil }), 5, 6)
		again, returned := background(func() error { return m.Raise(t.Context(), 6) })
		if returned() {
			t.Fatal("the second Raise did not wait for the act")
		}
		act.finish(t)
		check(t, <-again)
	})
}

func TestMemoryDoWaitsForActsOfLowerTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fence.Memory{}
		old := begin(t.Context(), m, 5)
		calls := 0
		do := func(ctx context.Context, token election.Token) (chan error, func() bool) {
			return background(func() error { return m.Do(ctx, token, func(context.Context) error { calls++; return nil }) })
		}
		ctx, cancel := context.WithCancel(t.Context())
		impatient, _ := do(ctx, 6)
		six, returned := do(t.Context(), 6)
		if returned() || calls > 0 {
			t.Fatal("an act of 6 ran beside one of 5")
		}
		cancel()
		if err := <-impatient; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's error", err)
		}
		seven, _ := do(t.Context(), 7)
		synctest.Wait()
		old.finish(t)
		wantFenced(t, <-six, 6, 7) // overtaken while it waited
		check(t, <-seven)
		if calls != 1 {
			t.Errorf("%d acts ran, want only that of 7", calls)
		}
	})
}

func TestMemoryActsOfOneTokenRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fence.Memory{}
		one, two := begin(t.Context(), m, 5), begin(t.Context(), m, 5)
		check(t, m.Raise(t.Context(), 5)) // waits for lower ones only
		check(t, m.Do(one.ctx, 5, func(context.Context) error { return nil }))
		if one.ctx.Err() != nil {
			t.Error("an act's context ended without a higher token")
		}
		one.finish(t)
		two.finish(t)
		if one.ctx.Err() == nil {
			t.Error("an act's context outlives it")
		}
	})
}

func TestMemoryActThatDoesNotReturn(t *testing.T) {
	for name, act := range map[string]func(context.Context) error{
		"panic":  func(context.Context) error { panic("act") },
		"Goexit": func(context.Context) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			m := &fence.Memory{}
			var ended sync.WaitGroup
			ended.Go(func() {
				defer func() { _ = recover() }()
				_ = m.Do(t.Context(), 5, act)
			})
			ended.Wait()
			check(t, m.Raise(t.Context(), 6)) // would wait for ever
		})
	}
}

func TestMemoryRaiseFromItsOwnActEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fence.Memory{}
		err := m.Do(t.Context(), 5, func(context.Context) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return m.Raise(ctx, 6)
		})
		if wantNotFenced(t, err); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		check(t, m.Raise(t.Context(), 6))
	})
}

func TestMemoryWithAContextThatEnded(t *testing.T) {
	m := &fence.Memory{}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	for _, err := range []error{
		m.Raise(ctx, 5),
		m.Do(ctx, 5, func(context.Context) error { t.Error("acted"); return nil }),
	} {
		if !errors.Is(err, why) {
			t.Errorf("got %v, want the cause", err)
		}
	}
	if m.Known() != 0 {
		t.Errorf("%d is known, although nothing was done", m.Known())
	}
}

// Whatever the interleaving: once a Raise has returned nil no act of a lower
// token is under way or begins, and acts of two tokens never run side by side.
func TestMemoryUnderLoad(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	var m fence.Memory
	var raised, running atomic.Uint64 // highest token raised; token that acts, if any
	var acts atomic.Int64
	look := func(token election.Token) error {
		if r := raised.Load(); r > uint64(token) {
			return fmt.Errorf("an act of %d is under way after %d was raised", token, r)
		}
		if r := running.Load(); r > uint64(token) {
			return fmt.Errorf("an act of %d is under way beside one of %d", token, r)
		}
		return nil
	}
	act := func(token election.Token) func(context.Context) error {
		return func(context.Context) error {
			acts.Add(1)
			lift(&running, uint64(token))
			if err := look(token); err != nil {
				return err
			}
			runtime.Gosched()
			return look(token)
		}
	}
	var all sync.WaitGroup
	for worker := range uint64(8) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, worker))
			for n := range 500 {
				token := election.Token(1 + n/10 + random.IntN(5))
				ctx, cancel := context.WithCancel(t.Context())
				var err error
				if random.IntN(4) == 0 {
					go cancel()
				}
				if random.IntN(3) == 0 {
					if err = m.Raise(ctx, token); err == nil {
						lift(&raised, uint64(token))
					}
				} else {
					err = m.Do(ctx, token, act(token))
				}
				cancel()
				if err != nil && !errors.Is(err, election.ErrFenced) && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if acts.Load() == 0 || m.Known() < 50 {
		t.Errorf("%d acts, %d is known: nothing was tested", acts.Load(), m.Known())
	}
}

// lift makes v at least n.
func lift(v *atomic.Uint64, n uint64) {
	for {
		old := v.Load()
		if old >= n || v.CompareAndSwap(old, n) {
			return
		}
	}
}
