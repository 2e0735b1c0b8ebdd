package proof_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
)

// contest is one election of two candidates. One goroutine uses it at a time.
type contest struct {
	cfg     childConfig
	masters []redis.UniversalClient
	random  *rand.Rand
	// holdFirst keeps whoever takes over from a paused leader at its first check,
	// before it has written anything.
	holdFirst bool

	all [2]*candidate

	mu      sync.Mutex
	changed chan struct{} // closed with every change of what follows
	lines   []line        // all that was told
	checks  map[election.Token]int
	over    map[election.Token]bool
	struck  *candidate // the one that is paused
	strikes int        // how many were
	closing bool
	gone    error // why it cannot go on
}

// newContest starts the candidates. Nothing is left running if that fails.
func newContest(ctx context.Context, cfg childConfig) (*contest, error) {
	x := &contest{
		cfg: cfg, changed: make(chan struct{}), random: rand.New(rand.NewPCG(1, 1)),
		checks: map[election.Token]int{}, over: map[election.Token]bool{},
	}
	for _, addr := range cfg.Masters {
		x.masters = append(x.masters, redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true}))
	}
	s, err := storeOn(cfg.Mode, cfg.Election, x.masters)
	if err == nil {
		err = s.Init(ctx) // nobody leads yet: the first election need not wait
	}
	for i := range x.all {
		if err != nil {
			break
		}
		cfg.Name = string(rune('a' + i))
		x.all[i], err = launch(cfg, x.hear, x.end)
	}
	if err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

// close ends the candidates and reports what went wrong.
func (x *contest) close() error {
	x.mu.Lock()
	done := x.closing
	x.closing = true
	err := x.gone
	x.mu.Unlock()
	if done {
		return nil
	}
	errs := []error{err, nil, nil}
	var wg sync.WaitGroup
	for i, c := range x.all {
		if c != nil {
			wg.Go(func() { errs[i+1] = c.stop() })
		}
	}
	wg.Wait()
	for _, m := range x.masters {
		errs = append(errs, m.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("election %s: %w", x.cfg.Election, err)
	}
	return nil
}

// hear notes a line and answers checks: at once, but for the one at which a
// leader may be struck.
func (x *contest) hear(c *candidate, l line) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lines = append(x.lines, l)
	switch l.Kind {
	case checked:
		x.checks[l.Token]++
		c.held, c.heldAt = true, len(x.lines)-1
		first := x.checks[l.Token] == 1
		if x.over[l.Token] || first && !(x.holdFirst && x.struck != nil) {
			x.answer(c, writeFirst)
		}
	case ended: // if it is not the one that is struck, it was lost without
		x.over[l.Token] = true
		if c.held && x.lines[c.heldAt].Token == l.Token && c != x.struck {
			x.answer(c, writeFirst)
		}
	}
	x.change()
}

// end notes that a candidate has ended, which it should not do by itself.
func (x *contest) end(c *candidate) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closing && x.gone == nil {
		x.gone = fmt.Errorf("%s has ended by itself: %s", c.name, c.proc.State())
		x.change()
	}
}

// answer lets a candidate go on from its check. x.mu is held.
func (x *contest) answer(c *candidate, how byte) {
	if _, err := c.in.Write([]byte{how}); err != nil && !x.closing {
		x.gone = err
	}
	c.held = false
}

func (x *contest) change() {
	close(x.changed)
	x.changed = make(chan struct{})
}

// until waits until f, which is called with x.mu held, says yes.
func (x *contest) until(ctx context.Context, what string, f func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		x.mu.Lock()
		done, gone, changed := f(), x.gone, x.changed
		x.mu.Unlock()
		switch {
		case gone != nil:
			return fmt.Errorf("election %s: %w", x.cfg.Election, gone)
		case done:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("election %s: not seen: %s: %w\n%s", x.cfg.Election, what, ctx.Err(), x.recent())
		}
	}
}

// await gives the first line from a mark on that f wants, and the mark after it.
func (x *contest) await(ctx context.Context, mark int, what string, f func(line) bool) (got line, next int, err error) {
	err = x.until(ctx, what, func() bool {
		i := slices.IndexFunc(x.lines[mark:], f)
		if i >= 0 {
			next = mark + i + 1
			got = x.lines[next-1]
		}
		return i >= 0
	})
	return got, next, err
}

// recent is what was told last, for people.
func (x *contest) recent() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	text := ""
	for _, l := range x.lines[max(0, len(x.lines)-40):] {
		text += fmt.Sprintf("%+v\n", l)
	}
	return text
}

// leaseEnd asks the masters when so many leases will have run out that another
// candidate can win, as CLOCK_MONOTONIC. The answer is a little early, never
// late, since masters count in milliseconds. Nobody may renew meanwhile.
func (x *contest) leaseEnd(ctx context.Context) (time.Duration, error) {
	k, err := vote.NewKeys("", x.cfg.Election)
	if err != nil {
		return 0, err
	}
	var at []time.Duration
	for _, m := range x.masters {
		asked := monotonic()
		left, err := m.PTTL(ctx, k.Lease).Result()
		if err != nil {
			return 0, err
		}
		at = append(at, asked+max(0, left))
	}
	slices.Sort(at)
	return at[len(at)/2], nil
}
