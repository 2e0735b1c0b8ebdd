package election

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"
)

// An Elector is one candidate in one election. All methods may be called from
// many goroutines.
type Elector interface {
	// Campaign blocks until this candidate leads, or ctx ends. ctx bounds only
	// the wait: the term outlives it. The error then matches ErrNotAcquired and
	// the context's error. It is ErrHeld while a term of this elector is live,
	// ErrClosed after Close, and an error for which Permanent is true when
	// waiting would not help. A second caller waits for the first one.
	//
	// Whoever calls Campaign after a term's context was done says that the work
	// of that term has ended: its lease is given back first.
	Campaign(ctx context.Context) (*Term, error)
	// Leader asks the store who leads. The error matches ErrNoLeader when
	// nobody does.
	Leader(ctx context.Context) (Leader, error)
	// Observe yields the leader now and at each change until ctx ends, or the
	// loop does: ErrNoLeader when nobody leads, other errors when the store
	// cannot be asked. A term shorter than a third of the TTL may be missed.
	Observe(ctx context.Context) iter.Seq2[Leader, error]
	// Close stops campaigning and ends a live term: its context is done, and
	// once the work that Run started has returned the lease is given back. It
	// waits for that until ctx ends, so do not call it from that work. The error
	// says what could not be done by then; a later call tries it again. Observe
	// goes on until its own context ends.
	Close(ctx context.Context) error
}

// New makes an elector over a store. The error is an *OptionError.
func New(store Store, o Options) (Elector, error) {
	if store == nil {
		return nil, &OptionError{"Store", "nil", "an elector needs a store"}
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	e := &elector{
		store: store, opt: o, clock: o.Clock, who: o.candidate(),
		turn: make(chan struct{}, 1), closing: make(chan struct{}),
		events: events{f: o.Observer},
	}
	if o.MinToken > 0 {
		e.floor = o.MinToken - 1
	}
	e.log = o.Logger.With("candidate", e.who.ID)
	e.events.log = e.log
	return e, nil
}

// elector implements Elector. It holds no boolean "I lead": the current term,
// if any, answers for itself by the clock.
type elector struct {
	store  Store
	opt    Options
	clock  Clock
	who    Candidate
	log    *slog.Logger
	events events

	turn    chan struct{} // held by the one goroutine that campaigns
	closing chan struct{} // closed by Close
	work    sync.WaitGroup

	mu       sync.Mutex
	isClosed bool
	term     *Term     // the latest term, over or not
	floor    Token     // the highest token seen anywhere
	yieldTo  time.Time // standbys go first until then
	bids     uint64
	warned   map[string]bool // warnings that are given once
}

// emit stamps and queues an event.
func (e *elector) emit(ev Event) {
	ev.At = e.clock.Now()
	e.events.send(ev)
}

// saw remembers the highest token known, for the floor of later bids. One that no
// term can exceed is not heeded: once it is repaired where it came from, this
// elector must not be stuck with it.
func (e *elector) saw(t Token) {
	if t >= MaxToken {
		return
	}
	e.mu.Lock()
	e.floor = max(e.floor, t)
	e.mu.Unlock()
}

// known is the highest token known.
func (e *elector) known() Token {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.floor
}

// random is a uniform number in [0, 1).
func (e *elector) random() float64 { return float64(e.opt.Random()>>11) / (1 << 53) }

// newBid makes a bid with a value that was never used before: the instance
// tells processes and electors apart, the count tells bids apart, the random
// part guards against a copied machine that continues with the same memory.
func (e *elector) newBid() Bid {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bids++
	return Bid{
		Value:     fmt.Sprintf("%s-%d-%016x%016x", e.who.Instance, e.bids, e.opt.Random(), e.opt.Random()),
		Candidate: e.who, TTL: e.opt.TTL, MaxTTL: e.opt.MaxTTL, Floor: e.floor,
	}
}

// warnOnce logs a warning the first time that it comes up.
func (e *elector) warnOnce(key, msg string, args ...any) {
	e.mu.Lock()
	seen := e.warned[key]
	if e.warned == nil {
		e.warned = map[string]bool{}
	}
	e.warned[key] = true
	e.mu.Unlock()
	if !seen {
		e.log.Warn(msg, args...)
	}
}

// current is the latest term, nil before the first.
func (e *elector) current() *Term {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.term
}

// callTimeout bounds calls that are made on the elector's own behalf, such as
// the release after the work has ended.
func (e *elector) callTimeout() time.Duration { return max(e.opt.TTL/2, 500*time.Millisecond) }

// Leader implements Elector.
func (e *elector) Leader(ctx context.Context) (Leader, error) {
	st, err := e.store.Inspect(ctx)
	if err != nil {
		return Leader{}, err
	}
	e.saw(st.Last)
	if st.Leader != nil {
		return *st.Leader, nil
	}
	if errs := st.unknown(); len(errs) > 0 {
		return Leader{}, errors.Join(errs...)
	}
	return Leader{}, ErrNoLeader
}

// unknown is the errors of masters that were not reached, if somebody may lead
// with their votes.
func (s State) unknown() (errs []error) {
	for _, part := range s.Parts { // any of them may be all that somebody leads by
		errs = append(errs, part.unknown()...)
	}
	if len(s.Parts) > 0 {
		return errs
	}
	votes, best := map[string]int{}, 0
	for _, m := range s.Masters {
		switch {
		case !m.Reachable:
			errs = append(errs, m.Err)
		case m.Value != "":
			votes[m.Value]++
			best = max(best, votes[m.Value])
		}
	}
	if best+len(errs) <= len(s.Masters)/2 {
		return nil
	}
	return errs
}

// Close implements Elector.
func (e *elector) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.isClosed {
		e.isClosed = true
		close(e.closing)
	}
	t := e.term
	e.mu.Unlock()
	var err error
	if t != nil {
		if err = t.conclude(ctx); errors.Is(err, ErrExpired) || errors.Is(err, ErrTaken) {
			err = nil
		}
	}
	if err = errors.Join(err, waitGroup(ctx, &e.work), e.store.Settle(ctx)); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// addWork notes a goroutine that Close waits for. It is false after Close.
func (e *elector) addWork() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.isClosed {
		e.work.Add(1)
	}
	return !e.isClosed
}

// waitGroup waits for wg until ctx ends. The goroutine it needs lives as long
// as the bounded work that it waits for.
func waitGroup(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
