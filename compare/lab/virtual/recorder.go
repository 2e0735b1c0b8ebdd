package virtual

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"incumbent/compare/history"
	"incumbent/election"
)

// recorder collects the events of a run. Its methods may be called from anywhere.
type recorder struct {
	begin   time.Time
	changed chan struct{} // has something whenever a term began

	mu     sync.Mutex
	events []history.Event
	terms  map[string]*term // by candidate, the latest
	leader string           // of the latest term, unless it has ended
	latest string           // who began it
	begun  time.Time        // and when
	closed bool
}

// term is what is remembered of a candidate's latest term.
type term struct {
	token    uint64
	deadline time.Duration
	ended    bool
}

func newRecorder() *recorder {
	return &recorder{begin: time.Now(), changed: make(chan struct{}, 1), terms: map[string]*term{}}
}

// since is t by the clock of the history.
func (r *recorder) since(t time.Time) time.Duration { return t.Sub(r.begin) }

// add records ev, at this instant if it has none.
func (r *recorder) add(ev history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ev.At == 0 {
		ev.At = r.since(time.Now())
	}
	r.put(ev)
}

// put is add; r.mu is held.
func (r *recorder) put(ev history.Event) {
	if !r.closed {
		r.events = append(r.events, ev)
	}
}

// observer records what the elector of a candidate reports.
func (r *recorder) observer(candidate string) func(election.Event) {
	return func(ev election.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed {
			return
		}
		out := history.Event{At: r.since(ev.At), Actor: candidate, Token: uint64(ev.Token), Err: word(ev.Err)}
		switch ev.Kind {
		case election.TermStarted:
			out.Kind, out.Deadline = history.TermStarted, r.since(ev.Deadline)
			r.start(candidate, out)
		case election.Renewed:
			out.Kind, out.Deadline = history.Renewed, r.since(ev.Deadline)
			r.terms[candidate].deadline = out.Deadline
		case election.TermStopping, election.TermEnded:
			r.end(candidate, ev.Kind, &out)
		default:
			out.Kind, out.Name = history.Note, string(ev.Kind)
		}
		r.put(out)
	}
}

// start notes a new term.
func (r *recorder) start(candidate string, ev history.Event) {
	r.terms[candidate] = &term{token: ev.Token, deadline: ev.Deadline}
	r.leader, r.latest, r.begun = candidate, candidate, r.begin.Add(ev.At)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// end completes an event of a term that stops or ends. A candidate that was
// frozen reports its end only when it wakes; but Valid, which reads the clock,
// would have been false from the deadline on.
func (r *recorder) end(candidate string, kind election.EventKind, ev *history.Event) {
	t := r.terms[candidate]
	ev.At = min(ev.At, t.deadline)
	ev.Kind = history.TermStopping
	if kind == election.TermEnded {
		ev.Kind, t.ended = history.TermEnded, true
		if r.leader == candidate {
			r.leader = ""
		}
	}
}

// last is who began a term last and when; "" if that term has ended.
func (r *recorder) last() (leader string, begun time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leader, r.begun
}

// rivals is when the last term ends, at the latest, of candidates that still believe
// in one beside the latest leader; zero if there are none.
func (r *recorder) rivals() (end time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.since(time.Now())
	for candidate, t := range r.terms {
		if candidate != r.latest && !t.ended && t.deadline > now && r.begin.Add(t.deadline).After(end) {
			end = r.begin.Add(t.deadline)
		}
	}
	return end
}

// leads reports whether that candidate's latest term goes on, as far as is known.
func (r *recorder) leads(candidate string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.terms[candidate]
	return t != nil && !t.ended && r.since(time.Now()) < t.deadline
}

// finish ends the record at this instant, and returns it in order. Terms of
// candidates that cannot report any more ended at their deadlines.
func (r *recorder) finish() (events []history.Event, length time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	length = r.since(time.Now())
	for candidate, t := range r.terms {
		if !t.ended && t.deadline < length {
			r.put(history.Event{At: t.deadline, Actor: candidate, Kind: history.TermEnded, Token: t.token, Err: "never heard of again"})
		}
	}
	r.closed = true
	number(r.events)
	return r.events, length
}

// number puts events in order and numbers those of each actor. What an actor's
// goroutines did in one instant came in any order; by kind it has one.
func number(events []history.Event) {
	slices.SortStableFunc(events, func(a, b history.Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Actor, b.Actor), cmp.Compare(rank(a.Kind), rank(b.Kind)),
			cmp.Compare(a.Token, b.Token), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Err, b.Err))
	})
	n := map[string]int{}
	for i := range events {
		ev := &events[i]
		ev.N = n[ev.Actor]
		n[ev.Actor]++
	}
}

// rank is the order of what one actor does in one instant.
func rank(k history.Kind) int {
	return slices.Index([]history.Kind{
		history.Acted, history.TermStarted, history.Renewed, history.Checked, history.TermStopping, history.TermEnded,
		history.Fault, history.MasterDown, history.MasterUp, history.Healed, history.Note,
	}, k)
}

// words are what errors are called in a history. Their full text may name ports
// or depend on which of two answers came first.
var words = []struct {
	err  error
	word string
}{
	{election.ErrGuarded, "guarded"},
	{election.ErrTaken, "taken"},
	{election.ErrExpired, "expired"},
	{election.ErrContended, "votes split"},
	{election.ErrTooSlow, "too slow"},
	{election.ErrTokenRegressed, "token would go back"},
	{election.ErrUnreachable, "unreachable"},
	{context.DeadlineExceeded, "unreachable"}, // which of two time-outs came first is chance
	{election.ErrClosed, "closed"},
	{election.ErrNotAcquired, "held by another"},
}

// word is err in few words that do not vary; "" for none.
func word(err error) string {
	if err == nil {
		return ""
	}
	var loss *election.Loss
	if errors.As(err, &loss) {
		return loss.Word()
	}
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	return "other"
}
