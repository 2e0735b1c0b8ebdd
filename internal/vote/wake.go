package vote

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Wake is what a subscription heard: the value of a released lease, or ""
// when the subscription was made anew and something may have been missed.
type Wake struct{ Value string }

// subscriber is what all kinds of go-redis client offer.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Listen calls heard for every release on this master until ctx ends, and once
// for each time that the subscription was made. It never polls: ping is how
// long a silent connection is trusted before it is asked for a sign of life.
// It returns when ctx has ended and the connection is closed.
func (m *Master) Listen(ctx context.Context, ping time.Duration, heard func(Wake)) {
	pause := firstPause
	for ctx.Err() == nil {
		if m.listenOnce(ctx, ping, heard) {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// listenOnce keeps one subscription. It reports whether it ever stood.
func (m *Master) listenOnce(ctx context.Context, ping time.Duration, heard func(Wake)) (stood bool) {
	s := m.client.(subscriber).Subscribe(ctx)
	closed := context.AfterFunc(ctx, func() { _ = s.Close() }) // ends a read in progress
	defer func() {
		closed()
		_ = s.Close()
	}()
	bounded, cancel := context.WithTimeout(ctx, m.Timeout)
	err := s.Subscribe(bounded, m.keys.Channel)
	cancel()
	if err != nil {
		return false
	}
	asked := false
	for {
		msg, err := s.ReceiveTimeout(ctx, ping)
		switch v := msg.(type) {
		case *redis.Subscription:
			stood = true
			heard(Wake{})
		case *redis.Message:
			heard(Wake{v.Payload})
		}
		if err == nil {
			asked = false
			continue
		}
		// Silence: one PING must bring an answer within another interval.
		if ctx.Err() != nil || asked || !isTimeout(err) || s.Ping(ctx) != nil {
			return stood
		}
		asked = true
	}
}
