package election

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Campaign implements Elector.
func (e *elector) Campaign(ctx context.Context) (*Term, error) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, notAcquired(ctx, errGaveUp, nil)
	case <-e.closing:
		return nil, ErrClosed
	}
	select {
	case <-e.closing:
		return nil, ErrClosed
	default:
	}
	if err := e.retire(ctx); err != nil {
		return nil, err
	}
	c := &campaign{e: e}
	defer c.unsubscribe()
	e.emit(Event{Kind: CampaignStarted})
	return c.run(ctx)
}

// retire deals with the term before: a live one forbids another, one whose
// context is done is given back, since its work has ended.
func (e *elector) retire(ctx context.Context) error {
	t := e.current()
	if t == nil {
		return nil
	}
	if t.Loss() == nil {
		return ErrHeld
	}
	t.mu.Lock()
	working := t.working
	t.mu.Unlock()
	if working != nil {
		select {
		case <-working:
			return nil
		default:
			return ErrHeld
		}
	}
	rctx, cancel := context.WithTimeout(ctx, e.callTimeout())
	defer cancel()
	// An error here costs a wait for the lease's end, and nothing else.
	if err := t.resign(rctx, ErrResigned); err != nil && !errors.Is(err, ErrExpired) && !errors.Is(err, ErrTaken) {
		e.log.Debug("lease of the last term not given back", "token", t.Token(), "error", err)
	}
	return nil
}

// campaign is one call of Campaign.
type campaign struct {
	e       *elector
	hints   <-chan struct{}
	stop    context.CancelFunc
	trouble string      // what was logged last, so that it is logged on change only
	splits  int         // bids lost in a row to split votes
	errs    int         // bids lost in a row to errors
	deaf    bool        // the next wait is not cut short by a hint
	behind  Token       // of the leader that was named last
	turns   int         // looks in a row at an heir's turn
	guards  StoreGuards // that were logged last
}

func (c *campaign) run(ctx context.Context) (*Term, error) {
	last := error(nil)
	wait := c.courtesy()
	for {
		if err := c.wait(ctx, wait); err != nil {
			return nil, notAcquired(ctx, err, last)
		}
		t, err := c.try(ctx)
		if err == nil {
			return t, nil
		}
		if errors.Is(err, ErrClosed) || errors.Is(err, errGaveUp) || ctx.Err() != nil {
			return nil, notAcquired(ctx, err, last)
		}
		c.e.emit(Event{Kind: BidRefused, Err: err})
		if Permanent(err) {
			return nil, fmt.Errorf("%w: %w", ErrNotAcquired, err)
		}
		last, wait = err, c.after(ctx, err)
	}
}

// errGaveUp stands for the end of the campaign's context, which is told apart
// from a master's time-out: that matches the context's error, too.
var errGaveUp = errors.New("the campaign ended")

// notAcquired is the error of a campaign that gives up: it matches
// ErrNotAcquired, the context's error and the last refusal: err, or the one
// before if that was abandoned.
func notAcquired(ctx context.Context, err, before error) error {
	switch {
	case errors.Is(err, ErrClosed):
		return err
	case errors.Is(err, errGaveUp):
		err = before
	}
	parts := []error{ErrNotAcquired}
	if ctx.Err() != nil {
		parts = append(parts, ctx.Err())
		if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
			parts = append(parts, cause)
		}
	}
	if err != nil {
		parts = append(parts, fmt.Errorf("last try: %w", err))
	}
	return &joined{parts}
}

// joined is errors.Join on one line.
type joined struct{ parts []error }

func (j *joined) Error() string {
	s := ""
	for i, err := range j.parts {
		if i > 0 {
			s += ": "
		}
		s += err.Error()
	}
	return s
}

func (j *joined) Unwrap() []error { return j.parts }

// outcome is what one bid led to.
type outcome struct {
	term *Term
	err  error
}

// try makes one bid. The store call does not end with ctx: an abandoned bid
// runs to its end in the background, bounded, and what it won is given back,
// so that clean-up never overtakes the acquire that it undoes (invariant 4).
func (c *campaign) try(ctx context.Context) (*Term, error) {
	e := c.e
	result := make(chan outcome) // unbuffered: either taken, or known to be abandoned
	abandoned := make(chan struct{})
	used := make(chan bool, 1) // whether a term that was taken has started
	if !e.addWork() {
		return nil, ErrClosed
	}
	go func() {
		defer e.work.Done()
		o := e.bid(ctx)
		select {
		case result <- o:
			if o.term == nil || <-used {
				return
			}
		case <-abandoned:
		}
		if o.term != nil {
			e.discard(o.term) // here, where Close waits for it and the caller does not
		}
	}()
	select {
	case o := <-result:
		if o.term == nil {
			return nil, o.err
		}
		err := e.start(ctx, o.term)
		used <- err == nil
		if err != nil {
			return nil, err
		}
		return o.term, nil
	case <-ctx.Done():
		// rare: bid-abandoned
		close(abandoned)
		return nil, errGaveUp
	case <-e.closing:
		close(abandoned)
		return nil, ErrClosed
	}
}

// bid asks the store once and judges the grant: too little left of it, or a
// token that goes back, and it is given back.
func (e *elector) bid(ctx context.Context) outcome {
	b := e.newBid()
	sent := e.clock.Now()
	actx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opt.TTL)
	defer cancel()
	g, err := e.store.Acquire(actx, b)
	if err != nil {
		e.learn(err)
		return outcome{err: err}
	}
	t := e.newTerm(g, sent)
	close(t.renewer) // nothing renews it yet
	took := e.clock.Now().Sub(sent)
	// More than b.Floor if a fence spoke up meanwhile; equal to the grant's own if
	// somebody asked who leads.
	known := e.known()
	switch {
	case g.Token <= b.Floor || g.Token < known || g.Token > MaxToken:
		err = &RegressedError{Offered: g.Token, Known: known}
	case took >= e.opt.TTL-drift(e.opt.TTL)-e.opt.StepDown:
		// R1: the reply is handled only now; what is left is no term.
		err = fmt.Errorf("%w: it took %s of a TTL of %s", ErrTooSlow, took, e.opt.TTL)
	default:
		return outcome{term: t}
	}
	e.discard(t)
	return outcome{err: err}
}

// learn remembers the tokens that a refusal shows.
func (e *elector) learn(err error) {
	var held *HeldError
	var waits *GuardError
	var back *RegressedError
	switch {
	case errors.As(err, &held):
		e.saw(max(held.Last, held.Holder.Token))
	case errors.As(err, &waits):
		e.saw(waits.Last)
	case errors.As(err, &back):
		e.saw(back.Known)
	}
}

// discard gives back a lease that will not be used.
func (e *elector) discard(t *Term) {
	ctx, cancel := context.WithTimeout(context.Background(), e.callTimeout())
	defer cancel()
	if _, err := e.store.Release(ctx, t.grant); err != nil {
		e.log.Debug("unused lease not given back", "token", t.Token(), "error", err)
	}
}

// start makes a granted term the current one, unless the campaign ended in the
// same instant.
func (e *elector) start(ctx context.Context, t *Term) error {
	e.mu.Lock()
	switch {
	case e.isClosed:
		e.mu.Unlock()
		return ErrClosed
	case ctx.Err() != nil:
		e.mu.Unlock()
		return errGaveUp
	}
	t.renewer = make(chan struct{})
	e.emit(Event{
		Kind: TermStarted, Token: t.Token(), Term: t, Deadline: t.deadline,
		Held: t.grant.Held, Masters: t.grant.Masters,
	})
	e.term = t
	e.floor = max(e.floor, t.Token())
	e.work.Add(1)
	e.mu.Unlock()
	t.run()
	return nil
}

// courtesy is how long standbys that this elector woke by resigning go first.
func (c *campaign) courtesy() time.Duration {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	return max(0, c.e.yieldTo.Sub(c.e.clock.Now()))
}

// wait sleeps until d has passed, a hint came, ctx ended or the elector closed.
func (c *campaign) wait(ctx context.Context, d time.Duration) error {
	hints := c.hints
	if c.deaf {
		hints = nil
	}
	if d > 0 {
		sleep(ctx, c.e.clock, d, hints, c.e.closing)
	}
	select {
	case <-c.e.closing:
		return ErrClosed
	case <-ctx.Done():
		return errGaveUp
	default:
		return nil
	}
}

// after says how long to wait after a refusal, and makes sure that a release
// wakes this campaign. A wake-up is only a hint: whoever is woken must still
// acquire (R13).
func (c *campaign) after(ctx context.Context, err error) time.Duration {
	c.note(err)
	ttl := c.e.opt.TTL
	// A bid that failed may be undone, or its lease given back, which wakes this
	// campaign too: heeding that would be a loop without a pause.
	var held *HeldError
	var waits *GuardError
	c.deaf = !errors.As(err, &held)
	if !errors.As(err, &waits) {
		c.turns = 0
	}
	switch {
	case errors.As(err, &held):
		c.splits, c.errs = 0, 0
		c.subscribe(ctx)
		if held.Left <= 0 || held.Left > ttl {
			// rare: lease-longer-than-ours
			return ttl // a leader with a longer TTL may resign and the wake-up be lost
		}
		// The server expires in milliseconds; the spread keeps standbys of one
		// leader from splitting the vote at the same instant.
		return held.Left + time.Millisecond + c.spread(4*time.Millisecond)
	case errors.As(err, &waits):
		// rare: bid-waits-for-a-guard
		c.splits, c.errs = 0, 0
		c.subscribe(ctx)
		// Not longer than a TTL: somebody may say meanwhile that nobody leads.
		return min(c.turn(waits), ttl) + time.Millisecond + c.spread(4*time.Millisecond)
	case errors.Is(err, ErrContended):
		// rare: votes-split
		c.splits++
		return time.Millisecond + c.spread(min(4*time.Millisecond<<min(c.splits, 8), ttl/4))
	default:
		// rare: bid-failed
		c.errs++
		c.subscribe(ctx)
		return min(ttl/20<<min(c.errs-1, 3), time.Second)/2 + c.spread(min(ttl/20<<min(c.errs-1, 3), time.Second)/2)
	}
}

// turn is how long to wait for guards. Where all that is waited for is an heir, it may
// lead any moment, and give the lease back again: so it is looked now and then, each time
// after twice as long. Whoever was asked to hand over lets others go first if the heir does
// not come.
func (c *campaign) turn(waits *GuardError) time.Duration {
	d, courtesy := max(waits.Left, time.Millisecond), c.e.courtesyTime()
	pause := courtesy << min(c.turns, 8)
	c.turns++
	switch {
	case waits.Guards != HandOverGuard:
		c.turns = 0
		return d
	case d > pause:
		return pause
	case c.e.wasAsked():
		return d + courtesy
	}
	return d
}

// spread is a random part of d.
func (c *campaign) spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * c.e.random())
}

// subscribe asks for wake-ups, once a campaign.
func (c *campaign) subscribe(ctx context.Context) {
	if c.hints != nil {
		return
	}
	sctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	hints, err := c.e.store.Released(sctx)
	if err != nil {
		stop()
		c.e.log.Debug("no wake-ups: looking once a TTL instead", "error", err)
		return
	}
	c.hints, c.stop = hints, stop
}

func (c *campaign) unsubscribe() {
	if c.stop != nil {
		c.stop()
	}
}

// note logs a refusal when it is of another kind than the last one. That
// somebody else leads is normal and said quietly.
func (c *campaign) note(err error) {
	e := c.e
	var held *HeldError
	if errors.As(err, &held) {
		if c.trouble != "" {
			e.log.Info("store answers again")
		}
		c.trouble = ""
		c.compare(held)
		if h := held.Holder; h.Token != c.behind {
			c.behind = h.Token
			e.log.Info("standing by", "leader", h.ID, "token", h.Token)
		}
		e.log.Debug("standing by", "leader", held.Holder.ID, "token", held.Holder.Token, "left", held.Left)
		return
	}
	if errors.Is(err, ErrContended) {
		e.log.Debug("votes split", "error", err)
		return
	}
	var waits *GuardError
	if errors.As(err, &waits) {
		c.noteGuard(waits)
		return
	}
	if kind := troubleKind(err); kind != c.trouble {
		c.trouble = kind
		e.log.Warn("cannot acquire, trying on", "error", err)
	}
}

// noteGuard logs that a guard of the store is waited for, once for each set of
// guards.
func (c *campaign) noteGuard(g *GuardError) {
	level := slog.LevelDebug
	if g.Guards != c.guards {
		c.guards, level = g.Guards, slog.LevelInfo
	}
	args := []any{"guards", g.Guards, "masters", g.Masters, "left", g.Left}
	if g.Guards == HandOverGuard {
		c.e.log.Log(context.Background(), level, "the lease was handed over to another candidate, which goes first", args...)
		return
	}
	// Where a server has just started, too, it may have forgotten a lease: init is wrong there.
	if g.Guards.Has(NoRecordGuard) && g.Guards&^(NoRecordGuard|FailoverGuard) == NoGuards {
		args = append(args, "hint", "a store that knows nothing of the election may have been wiped, so the first election waits once; Init of the store, or the command incumbent init, says that nobody can be leading")
	}
	c.e.log.Log(context.Background(), level, "nobody can lead yet: "+ErrGuarded.Error(), args...)
}

// troubleKind names the kinds of failure in err, so that the same trouble with
// another port number or time-out is not news.
func troubleKind(err error) string {
	var m *MasterError
	if errors.As(err, &m) {
		return m.Kind.Error()
	}
	if errors.Is(err, ErrTooSlow) {
		return ErrTooSlow.Error() // without how long it took
	}
	return err.Error()
}

// compare warns once of candidates that do not fit together.
func (c *campaign) compare(held *HeldError) {
	h := held.Holder
	if h.TTL > 0 && h.TTL != c.e.opt.TTL {
		c.e.warnOnce("ttl", "candidates disagree on the TTL; each lease lasts as long as its holder asked for",
			"mine", c.e.opt.TTL, "theirs", h.TTL, "leader", h.ID)
	}
	if h.ID == c.e.who.ID && h.Instance != c.e.who.Instance {
		c.e.warnOnce("id", "another candidate carries the same ID; leadership is safe, but logs will confuse",
			"id", h.ID, "host", h.Host, "pid", h.PID)
	}
}
