package election

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of the work, as Run returns it.
type PanicError struct {
	// Value is what panic was called with.
	Value any
	// Stack is where.
	Stack []byte
}

// Error gives the value and the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("work panicked: %v\n%s", e.Value, e.Stack) }

// Unwrap gives the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// guarded calls f and turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return f()
}

// Run campaigns, calls work while leading, and campaigns again when the term
// is lost. It returns
//
//   - nil when work returned nil while its term was valid; the lease is given back;
//   - work's error when it returned one while its term was valid, likewise;
//   - a *PanicError when work panicked; the lease is given back first;
//   - nil when ctx ended, after work has returned and the lease is given back;
//     an error of work that is no more than that context's own is dropped, any
//     other is returned;
//   - the campaign's error when that cannot go on: ErrClosed, ErrHeld, or a
//     permanent one.
//
// The guards are raised to the term's token before work starts, each in turn:
// until then a resource takes stale acts (R14). A guard that knows a higher
// token ends the term as fenced, and the next bid asks for a larger one. A guard
// that cannot be raised for a TTL ends the term as unhealthy, so that a
// candidate which reaches it may lead. Work that returns a *FencedError for its
// own token ends its term as fenced, too: Run campaigns again. A guard's error for
// which Permanent is true (its table does not exist) is returned like work's own.
//
// work gets a context that carries ctx's values and is done when ctx is, or
// StepDown before leadership stops being provable. It must return then: until
// it does, the lease is renewed for Options.Grace, and this candidate does not
// campaign. What work returns after it lost its term is logged, not returned.
func Run(ctx context.Context, e Elector, work func(ctx context.Context, t *Term) error, guards ...Guard) error {
	for {
		t, err := e.Campaign(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		done, err := t.do(ctx, work, guards)
		if done {
			return err
		}
	}
}

// do runs work once. done says that Run is finished.
func (t *Term) do(ctx context.Context, work func(context.Context, *Term) error, guards []Guard) (done bool, err error) {
	finished := make(chan struct{})
	if !t.begin(finished) {
		// Close came first, or the term was over at once. Should ctx end now, no
		// campaign would follow that gives the lease back.
		t.giveBack(ctx)
		return false, nil
	}
	defer close(finished)
	// Deferred, so that the lease is given back even if work calls Goexit.
	defer func() { t.giveBack(ctx) }()

	wctx, cancel := t.workContext(ctx)
	defer cancel()
	err = guarded(func() error {
		if err := t.raise(wctx, guards); err != nil {
			return err
		}
		return t.call(wctx, work)
	})
	t.fencedBy(err, false)

	lost := t.Loss()
	var p *PanicError
	switch {
	case errors.As(err, &p):
		t.e.log.Error("work panicked", "token", t.Token(), "panic", p.Value)
		return true, err
	case ctx.Err() != nil:
		if isContextError(ctx, wctx, err) {
			err = nil
		}
		return true, err
	case lost == nil:
		if err != nil {
			t.e.log.Warn("work failed: its term is given back", "token", t.Token(), "error", err)
		}
		return true, err
	}
	if err != nil && !isContextError(ctx, wctx, err) {
		t.e.log.Warn("work failed as its term ended", "token", t.Token(), "error", err)
	}
	return false, nil
}

// call does the work, and tells the observer of its beginning and its end.
func (t *Term) call(ctx context.Context, work func(context.Context, *Term) error) (err error) {
	began := t.e.clock.Now()
	t.e.emit(Event{Kind: WorkStarted, Token: t.Token(), Term: t})
	defer func() { // also where work calls Goexit
		now := t.e.clock.Now()
		t.e.emit(Event{Kind: WorkReturned, Token: t.Token(), Term: t, Took: now.Sub(began), Lag: t.overrun(now), Err: err})
	}()
	return guarded(func() error { return work(ctx, t) })
}

// begin notes that work is about to start, unless the term is ending already:
// Close then knows that there is work to wait for.
func (t *Term) begin(finished chan struct{}) bool {
	t.check()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loss != nil {
		return false
	}
	t.working = finished
	return true
}

// giveBack releases with a context of its own: the caller's may have ended.
func (t *Term) giveBack(ctx context.Context) {
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.e.callTimeout())
	defer cancel()
	err := t.resign(rctx, ErrResigned)
	if err != nil && !errors.Is(err, ErrExpired) && !errors.Is(err, ErrTaken) {
		t.e.log.Warn("lease not given back: a standby waits until it expires", "token", t.Token(), "error", err)
	}
}

// workContext is ctx, done also with the term. When ctx ends first the term
// begins to stop: it is renewed while the work does.
func (t *Term) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, end := context.WithCancelCause(ctx)
	stopTerm := context.AfterFunc(t.ctx.Context, func() { end(context.Cause(t.ctx.Context)) })
	stopCtx := context.AfterFunc(ctx, func() {
		t.stop(&Loss{Token: t.Token(), Reason: ErrResigned, Err: context.Cause(ctx)}, t.e.opt.Grace)
	})
	return workContext{inner, t, end}, func() {
		stopTerm()
		stopCtx()
		end(context.Canceled)
	}
}

// workContext reads the term's clock whenever it is asked, like termContext.
type workContext struct {
	context.Context
	t   *Term
	end context.CancelCauseFunc
}

func (c workContext) check() {
	if c.t.ctx.Err() != nil {
		c.end(context.Cause(c.t.ctx.Context))
	}
}

func (c workContext) Err() error {
	c.check()
	return c.Context.Err()
}

func (c workContext) Done() <-chan struct{} {
	c.check()
	return c.Context.Done()
}

// isContextError reports whether err says no more than that ctx or the work's
// own context ended. A joined error does only if all its parts do.
func isContextError(ctx, wctx context.Context, err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, part := range joined.Unwrap() {
			if !isContextError(ctx, wctx, part) {
				return false
			}
		}
		return len(joined.Unwrap()) > 0
	}
	_, timed := ctx.Deadline()
	if err == nil || errors.Is(err, context.Canceled) || timed && errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	for _, c := range []context.Context{ctx, wctx} {
		// Either way round: err may wrap the cause, or be a part of it.
		if cause := context.Cause(c); cause != nil && (errors.Is(err, cause) || errors.Is(cause, err)) {
			return true
		}
	}
	return false
}
