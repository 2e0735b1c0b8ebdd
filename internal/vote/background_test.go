package vote

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackgroundSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Background
		if err := b.Settle(t.Context()); err != nil {
			t.Errorf("nothing to wait for: %v", err)
		}
		start := time.Now()
		for i := range 3 {
			b.Go(func() { time.Sleep(time.Duration(i+1) * time.Second) })
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Settle(short); err != context.DeadlineExceeded {
			t.Errorf("settle with too little time: %v", err)
		}
		for range 2 { // two may wait at once
			go func() { _ = b.Settle(context.Background()) }()
		}
		if err := b.Settle(t.Context()); err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("settled after %s: %v", time.Since(start), err)
		}
	})
}

// Lasting work is waited for from the end of its context on.
func TestBackgroundWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Background
		ctx, cancel := context.WithCancel(t.Context())
		b.While(ctx, func() { <-ctx.Done(); time.Sleep(time.Second) })
		start := time.Now()
		if err := b.Settle(t.Context()); err != nil || time.Since(start) != 0 {
			t.Errorf("a listener holds up Settle for %s: %v", time.Since(start), err)
		}
		b.Go(func() { time.Sleep(2 * time.Second) })
		cancel()
		if err := b.Settle(t.Context()); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("settled after %s: %v", time.Since(start), err)
		}
		other, cancel := context.WithCancel(t.Context())
		b.While(other, func() { <-other.Done(); time.Sleep(time.Second) })
		cancel()
		start = time.Now()
		if err := b.Settle(t.Context()); err != nil || time.Since(start) != time.Second {
			t.Errorf("settled after %s: %v", time.Since(start), err)
		}
	})
}
