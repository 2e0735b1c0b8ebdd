package vote

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// A Wake is what a subscription heard: the value of a released lease, or ""
// when the subscription was made anew and something may have been missed.
type Wake struct{ Value string }

// A Pinger says how long a silent subscription is trusted: half a minute, or
// longer where the TTL is, so that signs of life stay rare beside a standby's one
// look a TTL. The zero value is usable.
type Pinger struct{ ttl atomic.Int64 }

// Note remembers the TTL that candidates use.
func (p *Pinger) Note(ttl time.Duration) { p.ttl.Store(int64(ttl)) }

// After is how long to trust silence.
func (p *Pinger) After() time.Duration {
	return max(30*time.Second, 6*time.Duration(p.ttl.Load()))
}

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Listen calls heard for every release on this master until ctx ends, and once
// for each time that the subscription was made: since something may have been missed.
// Where that was because a bid has met another server in the master's place, it says so
// once in a sixth of ping, which is a TTL or more: behind a proxy that shows another
// server each time, a word after each bid would be a busy loop. It never polls: ping is how long a silent connection is trusted before it is asked
// for a sign of life. It returns when ctx has ended and the connection is closed.
func (m *Master) Listen(ctx context.Context, ping time.Duration, heard func(Wake)) {
	pause := firstPause
	var told time.Time // when a move was told last
	quiet := false
	for ctx.Err() == nil {
		stood, moved, err := m.listenOnce(ctx, ping, heard, quiet)
		if quiet = false; moved {
			// rare: subscription-moved
			now := m.clock.own.Now()
			if quiet = now.Sub(told) < ping/6; !quiet {
				told = now
			}
			continue
		}
		if stood {
			pause = firstPause
		}
		wait := pause
		if kind, remedy := kindOf(err); errors.Is(kind, election.ErrNoPermission) {
			// Asking again changes nothing until somebody changes the rights.
			wait = time.Minute
			m.warnNoWake(err, remedy)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			// rare: subscription-made-again
		}
		pause = min(2*pause, maxPause)
	}
}

// warnNoWake says once that releases cannot be heard.
func (m *Master) warnNoWake(err error, remedy string) {
	m.warnOnce("deaf", "no wake-ups: standbys look once a TTL instead", "error", err, "remedy", remedy)
}

// ended is a context that has ended. Reading from an open subscription ignores
// that, but the client's own reconnecting, which dials under a lock that Close
// needs too, fails at once: Listen makes a new subscription instead.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// listenOnce keeps one subscription; quiet, it does not tell that it was made. It
// reports whether it ever stood, whether another one is to be made elsewhere, and why
// it ended.
func (m *Master) listenOnce(ctx context.Context, ping time.Duration, heard func(Wake), quiet bool) (stood, moved bool, err error) {
	s := m.client.Subscribe(ctx)
	defer func() { _ = s.Close() }() // its connection is of no use to anybody else
	bounded, cancel := context.WithTimeout(ctx, m.Timeout)
	err = s.Subscribe(bounded, m.keys.Channel)
	cancel()
	if err != nil {
		return false, false, err
	}
	here, leave := context.WithCancel(ctx)
	defer leave()
	stop := context.AfterFunc(here, func() { _ = s.Close() }) // ends a read in progress
	defer stop()
	ear := m.ears.add(leave)
	defer func() { moved = m.ears.remove(ear) && stood && ctx.Err() == nil }()
	asked := false
	for {
		msg, err := s.ReceiveTimeout(ended, ping)
		switch v := msg.(type) {
		case *redis.Subscription:
			stood = true
			if !quiet {
				heard(Wake{})
			}
		case *redis.Message:
			heard(Wake{v.Payload})
		}
		if err == nil {
			asked = false
			continue
		}
		// Silence: one PING must bring an answer within another interval.
		if ctx.Err() != nil || asked || !isTimeout(err) || s.Ping(ended) != nil {
			return stood, false, err
		}
		asked = true
	}
}

// ears are the subscriptions to one master.
type ears struct {
	mu   sync.Mutex
	open map[*ear]struct{}
}

// ear is one of them.
type ear struct {
	leave func() // ends it soon; does not block
	moved bool   // it is to be made anew elsewhere
}

func (e *ears) add(leave func()) *ear {
	one := &ear{leave: leave}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open = map[*ear]struct{}{}
	}
	e.open[one] = struct{}{}
	return one
}

// remove forgets a subscription, and reports whether it was moved.
func (e *ears) remove(one *ear) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, one)
	return one.moved
}

// move ends all subscriptions, so that each is made anew.
func (e *ears) move() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for one := range e.open {
		one.moved = true
		one.leave()
	}
}
