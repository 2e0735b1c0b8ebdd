// Package follow keeps what the events of one elector tell: its term, its work,
// and who else leads.
//
// It does not remember whether this candidate leads. It keeps the term, and that
// answers by the clock whenever it is asked. Since an event comes a little after
// the fact, a new term may be missing from an answer for a moment; one that is over
// never counts as valid.
package follow

import (
	"errors"
	"sync"
	"time"

	"incumbent/election"
)

// A Follower is an observer of one elector. It may be used from many goroutines.
type Follower struct {
	clock election.Clock

	mu       sync.Mutex
	term     *election.Term // nil from its end on
	since    time.Time
	work     *work
	holder   election.Leader
	heard    time.Time // when holder was heard of; zero if nobody is known
	hopeless bool      // the last campaign ended with an error that waiting does not cure
}

// work is work of a term, from WorkStarted to WorkReturned.
type work struct {
	term    *election.Term
	endedAt time.Time // when TermEnded was noticed; zero before
}

// New makes a Follower with the elector's clock. nil means election.SystemClock, as
// it does there.
func New(c election.Clock) *Follower {
	if c == nil {
		c = election.SystemClock()
	}
	return &Follower{clock: c}
}

// Now is the time by the elector's clock.
func (f *Follower) Now() time.Time { return f.clock.Now() }

// Observe takes in an event. It never blocks for long.
func (f *Follower) Observe(ev election.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch ev.Kind {
	case election.CampaignStarted:
		f.hopeless = false
	case election.BidRefused:
		f.hopeless = election.Permanent(ev.Err)
		if h := (*election.HeldError)(nil); errors.As(ev.Err, &h) {
			f.holder, f.heard = h.Holder, ev.At
		}
	case election.TermStarted:
		f.term, f.since, f.heard = ev.Term, ev.At, time.Time{}
	case election.TermEnded:
		f.term = nil
		if f.work != nil && f.work.term == ev.Term {
			f.work.endedAt = ev.At
		}
		if by := (*election.TakenError)(nil); errors.As(ev.Err, &by) {
			f.holder, f.heard = by.By, ev.At
		}
	case election.WorkStarted:
		f.work = &work{term: ev.Term}
	case election.WorkReturned:
		f.work = nil
	}
}

// Term is the term that began last and when its beginning was noticed; nil when it
// has ended or there was none. Ask the term whether it is valid.
func (f *Follower) Term() (t *election.Term, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.term, f.since
}

// Holder is who else was last heard to lead, and how long ago. ok is false when
// nobody was heard of, or this candidate led since.
func (f *Follower) Holder() (l election.Leader, age time.Duration, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.heard.IsZero() {
		return election.Leader{}, 0, false
	}
	return f.holder, max(0, f.clock.Now().Sub(f.heard)), true
}

// Hopeless reports whether the last campaign ended with an error that waiting does
// not cure, and none has begun since.
func (f *Follower) Hopeless() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hopeless
}

// Work says whether work that election.Run started is under way, of which term, and
// for how long that term has been over.
func (f *Follower) Work() (t election.Token, overrun time.Duration, running bool) {
	f.mu.Lock()
	w := f.work
	if w == nil {
		f.mu.Unlock()
		return 0, 0, false
	}
	term, ended := w.term, w.endedAt
	f.mu.Unlock()
	if term.Valid() {
		return term.Token(), 0, true
	}
	end := term.Deadline()
	if !ended.IsZero() && ended.Before(end) {
		end = ended // it ended early; one that lapsed may be noticed late
	}
	return term.Token(), max(0, f.clock.Now().Sub(end)), true
}
