package main

import (
	"sync"
	"time"
)

// repeatTrouble is how often trouble that lasts is logged again: whoever reads the log of
// the last hours must find it.
const repeatTrouble = time.Minute

// trouble is what keeps a candidate from leading, other than that somebody else leads.
type trouble struct {
	mu      sync.Mutex
	refused error     // the last refusal, of whatever kind; nil after a term
	since   time.Time // of the first in a row from a store that does not serve; zero if it does
	said    time.Time // when that was logged last
}

// note takes in a refusal. It reports for how long there has been nothing but trouble, and
// whether to say so: the elector has logged its beginning.
func (t *trouble) note(err error, now time.Time) (lasts time.Duration, say bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = err
	switch {
	case mustWait(err):
		t.since = time.Time{}
		return 0, false
	case t.since.IsZero():
		t.since, t.said = now, now
		return 0, false
	case now.Sub(t.said) < repeatTrouble:
		return now.Sub(t.since), false
	}
	t.said = now
	return now.Sub(t.since), true
}

// last is the last refusal; nil if there was none since the last term.
func (t *trouble) last() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}

// over ends it: there is a term.
func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused, t.since = nil, time.Time{}
}
