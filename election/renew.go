package election

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// run starts what keeps a term: the watch on its deadline and the renewer.
func (t *Term) run() {
	t.watch()
	go t.keep()
	t.e.log.Info("leading", "token", t.Token(), "ttl", t.grant.TTL)
}

// watch applies the clock at the next point in time that matters. It wakes up
// at least ten times a TTL, since timers stand still while the machine is
// suspended and the clock does not.
func (t *Term) watch() {
	t.check()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	next := t.deadline
	if t.loss == nil {
		next = next.Add(-t.e.opt.StepDown)
	}
	d := min(next.Sub(t.e.clock.Now()), t.e.opt.TTL/10)
	t.stopWait = t.e.clock.AfterFunc(max(d, 0), t.watch)
}

// keep renews until the term is over, its grace has ended, or its lease is
// known to be gone.
func (t *Term) keep() {
	defer t.e.work.Done()
	defer close(t.renewer)
	due := t.sent // like the deadline: after a slow bid there is less time left
	after := firstRenewal(t.grant, t.e.opt.Renew, t.e.random())
	for ; ; after = renewAfter(t.e.opt.Renew, t.e.random()) {
		due = due.Add(after)
		for try := 0; ; try++ {
			if !t.waitUntil(due) || t.graceOver() {
				return
			}
			if try == 0 {
				t.checkHealth()
			}
			sent, ok := t.renew(due)
			if ok {
				due = sent
				break
			}
			if t.isOver() {
				return
			}
			due = t.e.clock.Now().Add(t.retryPause())
		}
	}
}

// retryPause is short at first sight of trouble: a lease that is not renewed
// is running out.
func (t *Term) retryPause() time.Duration {
	return max(time.Duration(float64(t.e.opt.TTL/20)*(0.5+t.e.random())), time.Millisecond)
}

// waitUntil sleeps until the clock says at. It is false when the term is over.
func (t *Term) waitUntil(at time.Time) bool {
	for {
		d := at.Sub(t.e.clock.Now())
		if d <= 0 {
			return !t.isOver()
		}
		if sleep(context.Background(), t.e.clock, min(d, t.e.opt.TTL), t.over, nil) {
			return false
		}
	}
}

// sleep waits for d. It is true when ctx ended or a or b had something before.
func sleep(ctx context.Context, c Clock, d time.Duration, a, b <-chan struct{}) bool {
	fired := make(chan struct{})
	stop := c.AfterFunc(d, func() { close(fired) })
	select {
	case <-fired:
		return false
	case <-ctx.Done():
	case <-a:
	case <-b:
	}
	stop()
	return true
}

func (t *Term) isOver() bool {
	t.check()
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// graceOver reports whether the work had all the time that it gets to stop.
func (t *Term) graceOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loss != nil && !t.e.clock.Now().Before(t.graceEnd)
}

// renew tries once. It reports when the try was sent, and whether it counts.
func (t *Term) renew(due time.Time) (sent time.Time, ok bool) {
	sent = t.e.clock.Now()
	old := t.Deadline()
	if !sent.Before(old) {
		return sent, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout(old.Sub(sent), t.grant.TTL))
	defer cancel()
	t.expectAnswer()
	g, err := t.e.store.Renew(ctx, t.grant)
	ev := Event{
		Kind: Renewed, Token: t.Token(), Term: t, Took: t.e.clock.Now().Sub(sent), Lag: sent.Sub(due),
		Held: g.Held, Masters: g.Masters, Err: err,
	}
	switch {
	case err == nil && t.extend(sent, g):
		ev.Deadline = t.Deadline()
		t.e.emit(ev)
		t.noteHeld(g)
		t.heed(g.Asked)
		return sent, true
	case err == nil:
		// R1: confirmed, but handled only after the old deadline.
		// rare: renewal-late
		err = ErrTooSlow
	case errors.Is(err, ErrTaken), errors.Is(err, ErrExpired):
		// rare: lease-lost
		t.lost(err)
		return sent, false
	}
	// rare: renewal-unknown
	t.setTrouble(err)
	ev.Kind, ev.Err = RenewFailed, err
	t.e.emit(ev)
	t.e.log.Debug("renewal failed", "token", t.Token(), "error", err)
	return sent, false
}

// extend moves the deadline, but only if the old one still lies ahead when the
// reply is handled (R1): a lapsed term never comes back (invariant 6).
func (t *Term) extend(sent time.Time, g Grant) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || !t.e.clock.Now().Before(t.deadline) {
		return false
	}
	if d := deadline(sent, t.grant.TTL); d.After(t.deadline) {
		t.deadline = d
	}
	t.grant.State, t.trouble = g.State, nil
	return true
}

// errNoAnswer is what is known of a renewal while it is in flight.
var errNoAnswer = fmt.Errorf("no answer to a renewal: %w", ErrUnreachable)

// expectAnswer notes that a renewal is in flight: should the term lapse now,
// silence is why, even if the call hangs and never tells.
func (t *Term) expectAnswer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.trouble == nil {
		t.trouble = errNoAnswer
	}
}

// noteHeld tells people when masters are missing, and when all are back. One
// renewal is given to heal them first.
func (t *Term) noteHeld(g Grant) {
	missing := g.Masters - g.Held
	switch {
	case missing == 0 && t.degraded > 1:
		// rare: masters-back
		t.e.log.Info("all masters confirm again", "token", t.Token(), "masters", g.Masters)
	case missing > 0 && t.degraded == 1:
		// rare: masters-missing
		t.e.log.Warn("not all masters confirm the lease: one more fault may end the term",
			"token", t.Token(), "held", g.Held, "masters", g.Masters)
	}
	if missing == 0 {
		t.degraded = 0
	} else {
		t.degraded++
	}
}

// heed resigns where somebody asked this very term to.
func (t *Term) heed(h *HandOver) {
	if h == nil || h.Token != t.Token() {
		return
	}
	// rare: asked-to-hand-over
	l := &Loss{Token: t.Token(), Reason: ErrResigned, Err: &AskedError{*h}}
	if t.Loss() == nil {
		t.e.log.Info("handing over", "token", t.Token(), "asked", l.Err.Error())
	}
	t.stop(l, t.e.opt.Grace)
}

func (t *Term) setTrouble(err error) {
	t.mu.Lock()
	t.trouble = err
	t.mu.Unlock()
}

// lost ends the term at once: the store is certain that the lease is gone.
func (t *Term) lost(err error) {
	l := &Loss{Token: t.Token(), Reason: ErrExpired, Err: err}
	if errors.Is(err, ErrTaken) {
		// rare: lease-taken
		l.Reason = ErrTaken
	}
	var by *TakenError
	if errors.As(err, &by) {
		t.e.saw(by.By.Token)
	}
	t.finish(l)
}

// checkHealth asks Options.Health and looks at MaxTerm. It never delays a
// renewal.
func (t *Term) checkHealth() {
	if m := t.e.opt.MaxTerm; m > 0 && t.e.clock.Now().Sub(t.start) >= m {
		t.stop(&Loss{Token: t.Token(), Reason: ErrMaxTerm}, t.e.opt.Grace)
	}
	health := t.e.opt.Health
	if health == nil || t.Loss() != nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx.Context)
	answer := make(chan error, 1) // one is taken, the other finds room
	late := t.e.clock.AfterFunc(t.e.opt.Renew, func() {
		answer <- errors.New("no answer within a renewal interval")
	})
	go func() { // ends with the health check itself, which gets a context that ends
		answer <- guarded(func() error { return health(ctx) })
	}()
	go func() {
		err := <-answer
		late()
		cancel()
		if err != nil && t.ctx.Context.Err() == nil {
			t.stop(&Loss{Token: t.Token(), Reason: ErrUnhealthy, Err: err}, t.e.opt.Grace)
		}
	}()
}
