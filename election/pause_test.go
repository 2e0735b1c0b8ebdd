package election_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// trapClock jumps ahead by a TTL at a given reading: a pause at that line.
type trapClock struct {
	mu     sync.Mutex
	left   int // readings until the jump; 0 when there is none to come
	jumped time.Duration
}

func (c *trapClock) arm(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = n
}

func (c *trapClock) hasJumped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.jumped > 0
}

func (c *trapClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left > 0 {
		if c.left--; c.left == 0 {
			c.jumped = ttl
		}
	}
	return time.Now().Add(c.jumped)
}

func (c *trapClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// The process is paused for a TTL at each of the places at which it reads the
// clock while leading: the term is never valid after that, no renewal is sent
// that the pause preceded, and the lease is given back or runs out.
func TestPauseAtEveryReadingOfTheClock(t *testing.T) {
	for n := 1; n <= 80; n++ {
		bubble(t, func(t *testing.T) {
			m := electiontest.NewMemory()
			s := m.Store()
			clock := &trapClock{}
			h := &hooks{Store: s, renew: func(ctx context.Context, g election.Grant) (election.Grant, error) {
				if clock.hasJumped() {
					t.Errorf("reading %d: a renewal was sent after the deadline", n)
				}
				return s.Renew(ctx, g)
			}}
			c := join(t, h, "a", func(o *election.Options) { o.Clock = clock; o.MaxTerm = time.Hour })
			term := lead(t, c)
			clock.arm(n)
			for !clock.hasJumped() {
				pass(10 * ms)
			}
			if term.Valid() || term.Context().Err() == nil {
				t.Errorf("reading %d: still leading", n)
			}
			pass(2 * ttl)
			if term.Valid() || c.events.count(election.TermEnded) != 1 {
				t.Errorf("reading %d: the term came back", n)
			}
			wantFree(t, m)
		})
	}
}

// A pause within Valid or Remaining itself: the answer is of after the pause.
func TestPauseWithinTheQuestion(t *testing.T) {
	for name, leads := range map[string]func(*election.Term) bool{
		"Valid":     (*election.Term).Valid,
		"Remaining": func(term *election.Term) bool { return term.Remaining() > 0 },
	} {
		for n := 1; n <= 2; n++ {
			bubble(t, func(t *testing.T) {
				clock := &trapClock{}
				c := join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = clock })
				term := lead(t, c)
				synctest.Wait()
				clock.arm(n)
				if leads(term) || !clock.hasJumped() {
					t.Errorf("%s leads after a pause at its reading %d", name, n)
				}
			})
		}
	}
}
