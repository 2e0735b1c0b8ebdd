package proof_test

import (
	"context"
	"slices"
	"time"

	"incumbent/election"
)

// pause is one leader that was stopped between its check and its write. Times
// are CLOCK_MONOTONIC.
type pause struct {
	old, next           string // candidates
	oldToken, nextToken election.Token
	lookFirst           bool          // the old leader looks at its term before it writes; in turns
	checked             time.Duration // when the old leader was told that its term is valid
	stopped, resumed    time.Duration // SIGSTOP, SIGCONT
	leaseEnd            time.Duration // at the store
	mark                int           // where the old leader's check stands in the contest's lines
	lines               []line        // all that was told from there on
}

// strike stops whoever leads, once it has written something in this term and is
// between its next check and its next write. Once enough has said yes to
// something that the other candidate told about a later term, it lets the old
// leader go on, and returns when that has written, knows why its term has ended,
// and campaigns again, and the other one has written, too.
func (x *contest) strike(ctx context.Context, what string, enough func(line) bool) (*pause, error) {
	old, p, err := x.aim(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.freeze(ctx, old, p); err != nil {
		return nil, err
	}
	next, _, err := x.await(ctx, p.mark, what, func(l line) bool { return l.Token > p.oldToken && enough(l) })
	if err != nil {
		return nil, err
	}
	p.next, p.nextToken = next.Who, next.Token
	p.resumed = monotonic()
	if err := old.proc.Resume(); err != nil {
		return nil, err
	}
	if err := x.wake(ctx, p); err != nil {
		return nil, err
	}
	return p, x.release(ctx, p)
}

// aim chooses a leader that has just passed a check, at a random phase of its
// renewals, and marks it as struck.
func (x *contest) aim(ctx context.Context) (*candidate, *pause, error) {
	for {
		c, at, err := x.waiting(ctx, 0)
		if err != nil {
			return nil, nil, err
		}
		if err := wait(ctx, x.phase()); err != nil {
			return nil, nil, err
		}
		x.ifHeld(c, at, func() { x.answer(c, writeFirst) })
		c, at, err = x.waiting(ctx, at+1)
		if err != nil {
			return nil, nil, err
		}
		if from, ok := x.ifHeld(c, at, func() { x.struck = c }); ok {
			return c, &pause{mark: at, old: c.name, oldToken: from.Token, checked: from.At}, nil
		}
		// It has lost its term by itself: on a busy machine a renewal can be late.
	}
}

// waiting waits for a candidate that waits at a check, told at a mark or later,
// and has written before in this term. It gives the candidate and the mark.
func (x *contest) waiting(ctx context.Context, mark int) (who *candidate, at int, err error) {
	err = x.until(ctx, "a leader between check and write", func() bool {
		i := slices.IndexFunc(x.all[:], func(c *candidate) bool {
			return c.held && c.heldAt >= mark && x.checks[x.lines[c.heldAt].Token] > 1
		})
		if i >= 0 {
			who, at = x.all[i], x.all[i].heldAt
		}
		return i >= 0
	})
	return who, at, err
}

// ifHeld calls f if a candidate still waits at the check at a mark, and gives
// that check.
func (x *contest) ifHeld(c *candidate, at int, f func()) (from line, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.held && c.heldAt == at {
		f()
		return x.lines[at], true
	}
	return line{}, false
}

// phase is how long a strike waits: more than a renewal interval, so that
// renewals are struck at any point.
func (x *contest) phase() time.Duration {
	if x.cfg.Inside {
		return 0
	}
	return time.Duration(x.random.Int64N(int64(ttl / 2)))
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// freeze stops a leader and puts the answer to its check where it will find it.
func (x *contest) freeze(ctx context.Context, c *candidate, p *pause) error {
	p.stopped = monotonic()
	if err := c.proc.Pause(); err != nil {
		return err
	}
	x.mu.Lock()
	if x.strikes++; x.strikes%2 == 0 {
		p.lookFirst = true
		x.answer(c, lookFirst)
	} else {
		x.answer(c, writeFirst)
	}
	x.mu.Unlock()
	var err error
	p.leaseEnd, err = x.leaseEnd(ctx)
	return err
}

// wake waits for what a leader does that was woken.
func (x *contest) wake(ctx context.Context, p *pause) error {
	for _, kind := range []string{acted, ended, campaigning} {
		_, _, err := x.await(ctx, p.mark, kind+", told by the old leader", func(l line) bool {
			return l.Who == p.old && l.Kind == kind && (l.Token == p.oldToken || kind == campaigning)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// release ends the strike: whoever was held at its first check may write.
func (x *contest) release(ctx context.Context, p *pause) error {
	x.mu.Lock()
	x.struck = nil
	for _, c := range x.all {
		if c.held && x.checks[x.lines[c.heldAt].Token] == 1 {
			x.answer(c, writeFirst)
		}
	}
	x.mu.Unlock()
	_, _, err := x.await(ctx, p.mark, "the next leader's writes", func(l line) bool {
		return l.Kind == acted && l.Token >= p.nextToken
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	p.lines = slices.Clone(x.lines[p.mark:])
	return err
}

// The two moments at which an old leader may be woken.
func hasWritten(l line) bool { return l.Kind == acted }
func hasBegun(l line) bool   { return l.Kind == checked }

// told gives what a candidate told for a token and f wants, in order.
func (p *pause) told(kind string, token election.Token, f func(line) bool) (all []line) {
	for _, l := range p.lines {
		if l.Kind == kind && l.Token == token && (f == nil || f(l)) {
			all = append(all, l)
		}
	}
	return all
}
