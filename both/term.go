package both

import (
	"sync"

	"incumbent/election"
)

// term is what a store keeps for one term, in Grant.State.
type term struct {
	mu    sync.Mutex
	parts [2]share
}

// share is a term's in one of the two stores.
type share struct {
	state         any  // the store's own
	held, masters int  // by its latest answer
	granted       bool // it said yes to the bid
	released      bool // it took the lease back
}

// termOf is the grant's term. A grant that did not come from a store, such as one
// made in a test, gets a fresh one.
func termOf(g election.Grant) *term {
	if t, ok := g.State.(*term); ok {
		return t
	}
	return new(term)
}

// of is the grant as store i knows it.
func (t *term) of(i int, g election.Grant) election.Grant {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.parts[i]
	g.State, g.Held, g.Masters = p.state, p.held, p.masters
	return g
}

// keep notes what store i has granted or renewed.
func (t *term) keep(i int, g election.Grant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.parts[i]
	p.state, p.held, p.masters, p.granted = g.State, g.Held, g.Masters, true
}

// granted reports whether store i said yes to the bid.
func (t *term) granted(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.parts[i].granted
}

// release notes that store i took the lease back.
func (t *term) release(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts[i].released = true
}

// released says which of the stores took the lease back.
func (t *term) released() (one, two bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.parts[first].released, t.parts[second].released
}
