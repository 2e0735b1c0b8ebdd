package election

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// raise lifts every guard to the term's token, before the work starts (R14).
func (t *Term) raise(ctx context.Context, guards []Guard) error {
	for _, g := range guards {
		if err := t.raiseOne(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// raiseOne tries until it is certain, for a TTL at most: a leader that cannot
// reach what it works on keeps out those who can.
func (t *Term) raiseOne(ctx context.Context, g Guard) error {
	began := t.e.clock.Now()
	pause := max(t.e.opt.TTL/100, time.Millisecond)
	for try := 0; ; try++ {
		tctx, cancel := context.WithTimeout(ctx, t.e.callTimeout())
		err := guarded(func() error { return g.Raise(tctx, t.Token()) })
		cancel()
		var p *PanicError
		switch {
		case errors.Is(err, ErrFenced) && !unattainable(err):
			t.fencedBy(err, true)
			t.Fenced(t.Token() + 1) // should err not say by what
			return err
		case err == nil, errors.As(err, &p), Permanent(err):
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("guard not raised: %w", context.Cause(ctx))
		case t.e.clock.Now().Sub(began) >= t.e.opt.TTL:
			err = fmt.Errorf("guard not raised within %s: %w", t.e.opt.TTL, err)
			t.stop(&Loss{Token: t.Token(), Reason: ErrUnhealthy, Err: err}, t.e.opt.Grace)
			return err
		}
		if try == 0 {
			t.e.log.Warn("guard not raised, trying on: the work waits for it", "token", t.Token(), "error", err)
		}
		sleep(ctx, t.e.clock, pause, nil, nil)
		pause = min(2*pause, t.e.opt.TTL/5)
	}
}

// unattainable reports whether a resource knows a token that no term can exceed:
// somebody wrote it there. That is repaired at the resource or not at all.
func unattainable(err error) bool {
	for f := range fences(err) {
		if f.Known >= MaxToken {
			return true
		}
	}
	return false
}

// fencedBy ends the term when err says that it is fenced. One that names another
// term's token, such as that of a second election in which the same work takes
// part, says nothing about this one, unless the answer was to this term's raise.
func (t *Term) fencedBy(err error, ours bool) {
	for f := range fences(err) {
		if ours || f.Token == t.Token() {
			t.Fenced(max(f.Known, t.Token()+1))
		}
	}
}

// fences yields every FencedError in the tree of err.
func fences(err error) iter.Seq[*FencedError] {
	return func(yield func(*FencedError) bool) { eachFence(err, yield) }
}

func eachFence(err error, yield func(*FencedError) bool) bool {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		for _, part := range many.Unwrap() {
			if !eachFence(part, yield) {
				return false
			}
		}
		return true
	}
	var f *FencedError
	if errors.As(err, &f) {
		return yield(f)
	}
	return true
}
