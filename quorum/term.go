package quorum

import (
	"sync"

	"incumbent/election"
)

// term is what a store keeps for one term, in Grant.State: the order of its
// calls at each master, and which masters held the lease when last heard of.
type term struct {
	lanes []lane

	mu     sync.Mutex
	held   []bool
	undone []bool // a release was sent that may have been applied
	over   bool   // a release was asked for: nothing is healed any more
}

func newTerm(masters int) *term {
	return &term{lanes: make([]lane, masters), held: make([]bool, masters), undone: make([]bool, masters)}
}

// termOf is the grant's term. A grant that did not come from a store, such as
// one made in a test, gets a fresh one.
func termOf(g election.Grant, masters int) *term {
	if t, ok := g.State.(*term); ok && len(t.lanes) == masters {
		return t
	}
	return newTerm(masters)
}

// release notes that the term is given back.
func (t *term) release() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
}

// nextUnlessReleased takes a place in the lane of master i, so that it comes
// before any release; not ok when one was asked for already.
func (t *term) nextUnlessReleased(i int) (before <-chan struct{}, done chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, nil, false
	}
	before, done = t.lanes[i].next()
	return before, done, true
}

func (t *term) set(i int, held bool) {
	t.mu.Lock()
	t.held[i] = held
	t.mu.Unlock()
}

// count is how many masters hold the lease, by the latest news of each.
func (t *term) count() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.held {
		if h {
			n++
		}
	}
	return n
}

// A lane keeps the calls of one term to one master in the order in which they
// were issued: a release never overtakes the vote or renewal that it ends.
type lane struct {
	mu   sync.Mutex
	tail chan struct{}
}

// next takes a place in the lane: wait for before (nil if the lane is empty),
// close done at the end.
func (l *lane) next() (before <-chan struct{}, done chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, done = l.tail, make(chan struct{})
	l.tail = done
	return before, done
}
