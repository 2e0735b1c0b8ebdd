package election

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Term is one unbroken period of leadership. It never comes back: a later
// win is another term with a larger token.
//
// What it does not promise: that nobody else leads at the instant in which an
// act reaches a resource. A process may be paused between a check of Valid and
// the act. Only the resource can refuse then, by the token.
type Term struct {
	e     *elector
	ctx   termContext
	end   context.CancelCauseFunc
	sent  time.Time // before the request that won it
	start time.Time // when its answer was handled

	mu       sync.Mutex
	grant    Grant
	deadline time.Time
	loss     *Loss     // why the context is done; nil while it is not
	ended    bool      // not valid any more, for good
	endedAt  time.Time // when that was, at the latest the deadline
	graceEnd time.Time // renewals stop then; set with loss
	released bool
	trouble  error // outcome of the last renewal
	stopWait func() bool

	degraded int // renewals in a row that some masters missed; the renewer's own

	over    chan struct{} // closed with ended
	renewer chan struct{} // closed when the renewer has returned
	working chan struct{} // closed when the work has returned; nil unless Run started some
	release chan struct{} // held by the one that sends a release
}

// termContext reads the clock whenever it is asked, so that the first look
// after a long pause already sees the end of the term, before any timer had
// its turn.
type termContext struct {
	context.Context
	t *Term
}

func (c termContext) Err() error {
	c.t.check()
	return c.Context.Err()
}

func (c termContext) Done() <-chan struct{} {
	c.t.check()
	return c.Context.Done()
}

// newTerm starts a term whose lease was asked for at sent.
func (e *elector) newTerm(g Grant, sent time.Time) *Term {
	inner, end := context.WithCancelCause(context.Background())
	t := &Term{
		e: e, end: end, grant: g, sent: sent, start: e.clock.Now(), deadline: deadline(sent, g.TTL),
		over: make(chan struct{}), renewer: make(chan struct{}), release: make(chan struct{}, 1),
	}
	t.ctx = termContext{inner, t}
	return t
}

// Token is the term's fencing token: strictly larger than every earlier
// term's. It never changes.
func (t *Term) Token() Token { return t.grant.Token }

// Context is done StepDown before leadership stops being provable, and for
// good. context.Cause gives a *Loss. It carries no values.
func (t *Term) Context() context.Context { return t.ctx }

// Valid reports whether the lease is provably held now. It reads the clock at
// the call, makes no network call, and is false from the deadline on.
func (t *Term) Valid() bool {
	t.check()
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended && t.e.clock.Now().Before(t.deadline)
}

// Deadline is when leadership stops being provable unless it is renewed. As a
// date it is an estimate; Remaining is exact.
func (t *Term) Deadline() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deadline
}

// Remaining is the time until the deadline; 0 when the term is not valid.
func (t *Term) Remaining() time.Duration {
	t.check()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return 0
	}
	return max(0, t.deadline.Sub(t.e.clock.Now()))
}

// Loss is why the term's context is done; nil while it is not.
func (t *Term) Loss() *Loss {
	t.check()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loss
}

// Resign ends the term, gives the lease back at once and wakes a standby. Call
// it after the work has returned: Valid is false from here on. It waits for a
// renewal in flight, then for the store's answer, at most until ctx ends. The
// error matches ErrExpired when the lease had lapsed before, ErrTaken when
// somebody else holds it. After a failure it may be called again; after a
// success it returns nil.
func (t *Term) Resign(ctx context.Context) error { return t.resign(ctx, ErrResigned) }

// Fenced ends the term at once because a guarded resource knows a higher token,
// and makes sure that this elector leads next time with a larger one. A token
// that is not higher changes nothing.
func (t *Term) Fenced(higher Token) {
	if higher <= t.Token() {
		return
	}
	t.e.saw(higher)
	t.finish(&Loss{Token: t.Token(), Reason: ErrFenced, Err: fmt.Errorf("a resource has seen token %d", higher)})
}

// check applies the clock: the context is done StepDown before the deadline,
// and the term is over at the deadline.
func (t *Term) check() {
	now := t.e.clock.Now()
	t.mu.Lock()
	var stop, end *Loss
	noted := t.loss
	if noted == nil && !now.Before(t.deadline.Add(-t.e.opt.StepDown)) {
		stop = t.lapse()
	}
	if !t.ended && !now.Before(t.deadline) {
		if end = t.loss; end == nil {
			end = stop
		}
	}
	t.mu.Unlock()
	if noted != nil {
		t.end(noted) // whoever noted it may not have come so far yet
	}
	if stop != nil {
		// rare: term-lapses
		t.stop(stop, t.e.opt.Grace)
	}
	if end != nil {
		t.finish(end)
	}
}

// lapse says why the lease was not renewed in time. t.mu is held.
func (t *Term) lapse() *Loss {
	l := &Loss{Token: t.grant.Token, Reason: ErrExpired, Err: t.trouble}
	switch {
	case t.trouble == nil:
		l.Err = errors.New("no renewal was sent in time")
	case errors.Is(t.trouble, ErrTooSlow): // the store did confirm
	case errors.Is(t.trouble, ErrUnreachable), errors.Is(t.trouble, context.DeadlineExceeded):
		l.Reason = ErrLostContact
	default:
		l.Reason = ErrRefused
	}
	return l
}

// stop makes the context done and lets renewals protect the work that is
// stopping for at most grace. Only the first call counts.
func (t *Term) stop(l *Loss, grace time.Duration) {
	t.mu.Lock()
	first := t.stopping(l, grace)
	t.mu.Unlock()
	if first {
		t.end(l)
	}
}

// stopping notes why the term stops, and reports whether that is news. t.mu is
// held, so that events keep their order.
func (t *Term) stopping(l *Loss, grace time.Duration) bool {
	if t.loss != nil {
		return false
	}
	t.loss, t.graceEnd = l, t.e.clock.Now().Add(grace)
	t.e.emit(Event{Kind: TermStopping, Token: t.Token(), Term: t, Err: l})
	return true
}

// finish makes the term invalid for good. Only the first call counts. The
// context is done after that: whoever it wakes must not find the term valid.
func (t *Term) finish(l *Loss) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	t.stopping(l, 0)
	t.ended, l = true, t.loss
	if t.endedAt = t.e.clock.Now(); t.deadline.Before(t.endedAt) {
		t.endedAt = t.deadline // it is noticed only now
	}
	stopWait := t.stopWait
	t.e.emit(Event{Kind: TermEnded, Token: t.Token(), Term: t, Err: l})
	t.mu.Unlock()
	t.end(l)
	if stopWait != nil {
		stopWait()
	}
	close(t.over)
	t.e.logEnd(t, l)
}

// overrun is how much of the time before now the term was over already.
func (t *Term) overrun(now time.Time) time.Duration {
	t.check()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		return 0
	}
	return max(0, now.Sub(t.endedAt))
}

// resign is Resign with the reason to give.
func (t *Term) resign(ctx context.Context, reason error) error {
	t.check()
	t.finish(&Loss{Token: t.Token(), Reason: reason})
	if err := t.lock(ctx); err != nil {
		return fmt.Errorf("resign: %w", err)
	}
	defer func() { <-t.release }()
	if t.released {
		return nil
	}
	r, err := t.e.store.Release(ctx, t.grant)
	if err == nil || errors.Is(err, ErrExpired) || errors.Is(err, ErrTaken) {
		t.released = true
		t.e.emit(Event{Kind: TermReleased, Token: t.Token(), Term: t, Err: err})
	}
	if err != nil {
		// rare: release-failed
		return fmt.Errorf("resign: %w", err)
	}
	t.e.yield(r)
	return nil
}

// lock waits for the renewer to return and for any other release, so that no
// command of this term follows its release.
func (t *Term) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-t.renewer:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case t.release <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// yield remembers that standbys were woken: this elector's next campaign lets
// them go first, or it would keep winning its own lease back.
func (e *elector) yield(r Released) {
	if r.Waiting == 0 {
		return
	}
	e.mu.Lock()
	e.yieldTo = e.clock.Now().Add(e.courtesyTime())
	e.mu.Unlock()
}

// courtesyTime is for how long those who were woken go first.
func (e *elector) courtesyTime() time.Duration {
	return min(max(e.opt.TTL/10, 20*time.Millisecond), time.Second)
}

// wasAsked reports whether the last term ended since somebody asked for that.
func (e *elector) wasAsked() bool {
	t := e.current()
	if t == nil {
		return false
	}
	l, asked := t.Loss(), (*AskedError)(nil)
	return l != nil && errors.As(l, &asked)
}

// conclude ends the term for Close: at once for a term from Campaign, after
// the work has returned for one from Run.
func (t *Term) conclude(ctx context.Context) error {
	t.check() // a term that lapsed before has that reason
	t.stop(&Loss{Token: t.Token(), Reason: ErrResigned}, t.e.opt.Grace)
	t.mu.Lock()
	working := t.working
	t.mu.Unlock()
	if working == nil {
		return t.resign(ctx, ErrResigned)
	}
	select {
	case <-working:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// logEnd tells people that a term ended: on purpose is information, the rest a
// warning.
func (e *elector) logEnd(t *Term, l *Loss) {
	level := e.log.Warn
	if errors.Is(l.Reason, ErrResigned) || errors.Is(l.Reason, ErrMaxTerm) {
		level = e.log.Info
	}
	args := []any{"token", t.Token(), "reason", l.Word(), "led", e.clock.Now().Sub(t.start).Round(time.Millisecond)}
	if l.Err != nil && !errors.Is(l.Reason, ErrResigned) { // what it was asked by is no error
		args = append(args, "error", l.Err)
	}
	level("leadership ended", args...)
}
