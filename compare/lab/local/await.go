package local

import (
	"context"
	"fmt"
	"time"

	"incumbent/compare/history"
)

const settlePoll = 2 * time.Millisecond

// Settle waits until somebody leads and works, and all others stand by, subscribed to
// wake-ups at every master, and says who leads under which token.
func (l *Lab) Settle(ctx context.Context) (leader string, token uint64, err error) {
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for {
		t, ok := l.rec.current()
		if ok && t.acted && l.fleet.find(t.actor) != nil && l.standbysListen(ctx, t.actor) {
			return t.actor, t.token, nil
		}
		if err := l.farEnded(); err != nil {
			return "", 0, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", 0, fmt.Errorf("local: no settled leader (term %d of %q): %w", t.token, t.actor, ctx.Err())
		}
	}
}

func (l *Lab) standbysListen(ctx context.Context, leader string) bool {
	if l.opt.Far != nil {
		return l.farListen(leader)
	}
	want := int64(l.opt.Candidates - 1)
	if want == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, l.opt.TTL/4)
	defer cancel()
	for _, p := range l.places {
		n, err := p.primary.direct.PubSubNumSub(ctx, l.keys.Channel).Result()
		if err != nil || n[l.keys.Channel] != want {
			return false
		}
	}
	return true
}

// Mark is the present place in the record, for Await.
func (l *Lab) Mark() int { return l.rec.mark() }

// Await returns the first line from mark on that f wants. Its times are
// CLOCK_MONOTONIC.
func (l *Lab) Await(ctx context.Context, mark int, f func(Line) bool) (Line, error) {
	line, err := l.rec.await(ctx, mark, f)
	if err != nil {
		return line, fmt.Errorf("local: what was awaited did not happen: %w", err)
	}
	return line, nil
}

// NextTerm waits for the first term with a larger token.
func (l *Lab) NextTerm(ctx context.Context, mark int, token uint64) (Line, error) {
	return l.Await(ctx, mark, func(e Line) bool { return e.Kind == history.TermStarted && e.Token > token })
}

// Wait lets that much real time pass, or returns ctx's error.
func (l *Lab) Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Lines copies what is recorded and was stamped at or after from.
func (l *Lab) Lines(from time.Duration) []Line { return l.rec.since(from) }

// Now is CLOCK_MONOTONIC, which all stamps are readings of.
func Now() time.Duration { return monotonic() }
