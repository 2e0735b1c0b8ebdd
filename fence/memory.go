package fence

import (
	"context"
	"fmt"
	"sync"

	"incumbent/election"
)

// Memory guards what lives in one process: a singleton, a file that only this
// process writes, the handlers behind a Middleware. The zero value is ready for
// use and knows no token. A Memory must not be copied after first use.
//
// It promises nothing beyond its process: when that restarts, it knows no token
// again, and two processes with a Memory each have two guards.
type Memory struct {
	// Name says in errors who refused. "" means "memory". Set it before first use.
	Name string

	mu    sync.Mutex
	known election.Token
	terms map[election.Token]*memoryTerm // those with acts under way
	idle  chan struct{}                  // closed when one of terms goes; nil while nobody waits for that
}

// memoryTerm is what one term is doing.
type memoryTerm struct {
	acts int
	ctx  context.Context // done when a higher token is learnt
	end  context.CancelCauseFunc
}

// Known is the highest token seen; 0 if none was.
func (m *Memory) Known() election.Token {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known
}

// Raise implements Guard. Acts of lower tokens are refused at once; those that
// are under way are waited for, until ctx ends, and the contexts that they got
// are cancelled. So once Raise has returned nil none of them can land any more.
//
// When ctx ends first, nothing is certain yet: such an act may still land. The
// token stays lifted; Raise it again to wait again.
//
// Called from an act of a lower token it waits for itself, until ctx ends.
func (m *Memory) Raise(ctx context.Context, t election.Token) error {
	return m.enter(ctx, t, func() {})
}

// Do runs act under token t, after acts of lower tokens have ended; until they
// have it waits, until ctx ends. A t higher than the one known is remembered
// first, as by Raise. Acts of the same token run side by side: Memory is no
// mutex between them.
//
// The error is a *FencedError if a higher token is known, ErrInvalidToken for a
// token that cannot be, or says that ctx ended while it waited: in all these
// cases act was not called. Otherwise it is act's own.
//
// The context that act gets ends with ctx, and also when a higher token is
// learnt; context.Cause is then a *FencedError. An act that heeds it does not
// keep the next leader waiting; one that does not still is waited for. What act
// leaves running after it has returned is not guarded.
func (m *Memory) Do(ctx context.Context, t election.Token, act func(context.Context) error) error {
	var term *memoryTerm
	if err := m.enter(ctx, t, func() { term = m.begin(t) }); err != nil {
		return err
	}
	defer m.end(t, term)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(term.ctx, func() { cancel(context.Cause(term.ctx)) })()
	return act(ctx)
}

// enter lifts the token to t, waits until no act of a lower one is under way,
// and calls then before a higher one can be learnt.
func (m *Memory) enter(ctx context.Context, t election.Token, then func()) error {
	if err := checkValid(m.resource(), t); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: token %d: nothing was done: %w", m.resource(), t, context.Cause(ctx))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		if t < m.known {
			return m.fenced(t, m.known)
		}
		m.lift(t)
		if !m.busyBelow(t) {
			then()
			return nil
		}
		if err := m.wait(ctx); err != nil {
			return fmt.Errorf("%s: token %d: acts of lower tokens are still under way, nothing is certain yet: %w",
				m.resource(), t, err)
		}
	}
}

// lift remembers t and tells the acts of lower tokens. m.mu is held.
func (m *Memory) lift(t election.Token) {
	if t == m.known {
		return
	}
	m.known = t
	for lower, term := range m.terms {
		term.end(m.fenced(lower, t))
	}
}

// busyBelow reports whether acts of tokens lower than t are under way. m.mu is held.
func (m *Memory) busyBelow(t election.Token) bool {
	for lower := range m.terms {
		if lower < t {
			return true
		}
	}
	return false
}

// wait waits until a term has no more acts. m.mu is held, though not meanwhile.
func (m *Memory) wait(ctx context.Context) error {
	if m.idle == nil {
		m.idle = make(chan struct{})
	}
	idle := m.idle
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begin counts one more act of t. m.mu is held.
func (m *Memory) begin(t election.Token) *memoryTerm {
	term := m.terms[t]
	if term == nil {
		term = &memoryTerm{}
		term.ctx, term.end = context.WithCancelCause(context.Background())
		if m.terms == nil {
			m.terms = map[election.Token]*memoryTerm{}
		}
		m.terms[t] = term
	}
	term.acts++
	return term
}

// end counts one act less, and wakes those who wait for a term's last one.
func (m *Memory) end(t election.Token, term *memoryTerm) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if term.acts--; term.acts > 0 {
		return
	}
	delete(m.terms, t)
	term.end(nil)
	if m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

func (m *Memory) resource() string {
	if m.Name == "" {
		return "memory"
	}
	return m.Name
}

func (m *Memory) fenced(t, known election.Token) *election.FencedError {
	return &election.FencedError{Resource: m.resource(), Token: t, Known: known}
}
