package election

import (
	"context"
	"errors"
	"fmt"
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
		case err == nil, errors.Is(err, ErrFenced), errors.As(err, &p):
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

// heed ends the term when the work, or a guard, says that it is fenced. A
// refusal of another term's token, such as that of a second election in which
// the same work takes part, says nothing about this one.
func (t *Term) heed(err error) {
	var f *FencedError
	if errors.As(err, &f) && f.Token == t.Token() {
		t.Fenced(max(f.Known, f.Token+1))
	}
}
