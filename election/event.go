package election

import (
	"log/slog"
	"sync"
	"time"
)

// EventKind says what happened.
type EventKind string

// What an elector reports. For every term there is exactly one TermStarted,
// then exactly one TermStopping, then exactly one TermEnded; a candidate that
// never led reports none of them.
const (
	// CampaignStarted: Campaign began.
	CampaignStarted EventKind = "campaign-started"
	// BidRefused: one try did not win. Err says why.
	BidRefused EventKind = "bid-refused"
	// TermStarted: the lease is held and the term is valid.
	TermStarted EventKind = "term-started"
	// Renewed: a renewal counted. Took is its round trip, Lag how late it was
	// sent against its plan, Held how many masters confirmed.
	Renewed EventKind = "renewed"
	// RenewFailed: a try to renew failed; it is tried again until the deadline.
	RenewFailed EventKind = "renew-failed"
	// TermStopping: the term's context is done. Err is the *Loss.
	TermStopping EventKind = "term-stopping"
	// TermEnded: the term is not valid any more and never will be. Err is the *Loss.
	TermEnded EventKind = "term-ended"
	// TermReleased: the lease was given back. Err is nil if it was still ours.
	TermReleased EventKind = "term-released"
	// WorkStarted: Run calls the work.
	WorkStarted EventKind = "work-started"
	// WorkReturned: that work has returned. Took is how long it ran, Lag how much
	// of that was after its term had ended: work that did not stop in time. Err is
	// what it returned.
	WorkReturned EventKind = "work-returned"
)

// An Event is something that happened to one elector.
type Event struct {
	Kind EventKind
	// At is the elector's clock when it happened.
	At time.Time
	// Token of the term concerned; 0 for events of a campaign.
	Token Token
	// Term is the term concerned, nil for events of a campaign: for observers that
	// ask later whether it is still valid. The event itself is of the past.
	Term *Term
	// Deadline is the term's deadline as of this event, for TermStarted and Renewed.
	Deadline time.Time
	// Took is how long the store call took, where there was one, or the work.
	Took time.Duration
	// Lag is how much later than planned a renewal was sent, or how long work
	// outlived its term.
	Lag time.Duration
	// Held and Masters count the masters that confirmed.
	Held, Masters int
	// Dropped is how many events before this one the observer was too slow for.
	Dropped int
	// Err is why, for events that have a reason.
	Err error
}

// lifecycle events are never dropped: there are only a few of them a term.
func (k EventKind) lifecycle() bool {
	switch k {
	case TermStarted, TermStopping, TermEnded, TermReleased, WorkStarted, WorkReturned:
		return true
	}
	return false
}

const maxQueued = 1024

// events hands events to an observer that may be slow. A goroutine runs only
// while there is something to hand over.
type events struct {
	f   func(Event)
	log *slog.Logger

	mu      sync.Mutex
	queue   []Event
	running bool
	dropped int
}

func (e *events) send(ev Event) {
	if e.f == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) >= maxQueued && !ev.Kind.lifecycle() {
		e.dropped++
		return
	}
	ev.Dropped, e.dropped = e.dropped, 0
	e.queue = append(e.queue, ev)
	if !e.running {
		e.running = true
		go e.drain()
	}
}

// deliver calls the observer. Its panic is logged: it must not end the process
// from a goroutine that nobody can guard.
func (e *events) deliver(ev Event) {
	err := guarded(func() error {
		e.f(ev)
		return nil
	})
	if err != nil {
		e.log.Error("observer panicked", "event", ev.Kind, "error", err)
	}
}

func (e *events) drain() {
	for {
		e.mu.Lock()
		if len(e.queue) == 0 {
			e.running = false
			e.mu.Unlock()
			return
		}
		batch := e.queue
		e.queue = nil
		e.mu.Unlock()
		for _, ev := range batch {
			e.deliver(ev)
		}
	}
}
