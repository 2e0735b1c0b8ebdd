package measure

import (
	"slices"
	"time"

	"incumbent/compare/history"
)

// Figures are those of one run. All times are by the history's one clock.
type Figures struct {
	// FailedOver says that a term began after the fault. Failover and Overshoot
	// mean nothing otherwise.
	FailedOver bool
	Failover   time.Duration
	// Kept says that the term which was valid when the fault struck still was at
	// the end, and that no other had begun.
	Kept bool
	// Overshoot is negative when the lease was released early.
	Overshoot time.Duration
	// StoreOut says that the first fault kept the store from serving for a while, which
	// was Outage: 0 in a lab in which a restart takes no time. Elected says that the next
	// term began after that, by Election. Where both are true they add up to Failover;
	// Outage and Election mean nothing otherwise.
	StoreOut bool
	Outage   time.Duration
	Elected  bool
	Election time.Duration
	// Leaderless, BeliefOverlap and ActOverlap are 0 when there was none; the
	// overlaps are the longest of the run.
	Leaderless    time.Duration
	BeliefOverlap time.Duration
	ActOverlap    time.Duration
	// StaleAttempted counts stale acts, the others those of them that a resource
	// accepted: without a fence, and with one that had seen an act of a later term.
	StaleAttempted        int
	StaleAcceptedUnfenced int
	StaleAcceptedFenced   int
	// Acts counts all acts that reached the resource.
	Acts int
}

// Of measures a run. Its events may be in any order.
func Of(run history.Run) Figures {
	events := sorted(run)
	terms := termsOf(events, run.Length)
	var f Figures
	f.failover(events, terms)
	f.outage(events, terms, run.Masters)
	f.Kept = kept(events, terms, run.Length)
	f.Leaderless = leaderless(events, terms, run.Length)
	f.BeliefOverlap = beliefOverlap(terms)
	f.acts(events, terms)
	return f
}

// sorted is a sorted copy of a run's events.
func sorted(run history.Run) []history.Event {
	events := slices.Clone(run.Events)
	history.Sort(events)
	return events
}

// span is a term.
type span struct {
	actor      string
	token      uint64
	start, end time.Duration
}

// termsOf lists the terms by their start. One that did not end in the history
// lasted until its end.
func termsOf(events []history.Event, length time.Duration) []span {
	var terms []span
	for _, ev := range events {
		switch ev.Kind {
		case history.TermStarted:
			terms = append(terms, span{ev.Actor, ev.Token, ev.At, length})
		case history.TermEnded:
			if i := latest(terms, ev.Actor, ev.Token); i >= 0 {
				terms[i].end = ev.At
			}
		}
	}
	return terms
}

// latest is the index of the last term of that actor and token; -1 if there is none.
func latest(terms []span, actor string, token uint64) int {
	for i := len(terms) - 1; i >= 0; i-- {
		if terms[i].actor == actor && terms[i].token == token {
			return i
		}
	}
	return -1
}

// firstFault finds the first fault.
func firstFault(events []history.Event) (history.Event, bool) {
	i := slices.IndexFunc(events, func(ev history.Event) bool { return ev.Kind == history.Fault })
	if i < 0 {
		return history.Event{}, false
	}
	return events[i], true
}

// failover measures from the fault to the start of the next term.
func (f *Figures) failover(events []history.Event, terms []span) {
	struck, ok := firstFault(events)
	if !ok {
		return
	}
	i := slices.IndexFunc(terms, func(t span) bool { return t.start > struck.At })
	if i < 0 {
		return
	}
	f.FailedOver = true
	f.Failover = terms[i].start - struck.At
	f.Overshoot = f.Failover - struck.Floor
}

// kept reports whether the leader outlived the first fault.
func kept(events []history.Event, terms []span, length time.Duration) bool {
	struck, ok := firstFault(events)
	if !ok || len(terms) == 0 {
		return false
	}
	last := terms[len(terms)-1]
	return last.start < struck.At && last.end >= length
}

// leaderless is for how long no term was valid, from the fault on; without a fault
// from the first term on.
func leaderless(events []history.Event, terms []span, length time.Duration) time.Duration {
	begin := length
	if struck, ok := firstFault(events); ok {
		begin = struck.At
	} else if len(terms) > 0 {
		begin = terms[0].start
	}
	var gaps time.Duration
	covered := begin // up to there somebody led, or it is counted
	for _, t := range terms {
		if t.start > covered {
			gaps += t.start - covered
		}
		covered = max(covered, t.start, t.end)
	}
	return gaps + max(0, length-covered)
}

// beliefOverlap is the longest one between the terms of two candidates: from the start of
// the later one until the first of them ends, which is mostly the earlier one.
func beliefOverlap(terms []span) (longest time.Duration) {
	for i, later := range terms {
		for _, earlier := range terms[:i] {
			if earlier.actor != later.actor {
				longest = max(longest, min(earlier.end, later.end)-later.start)
			}
		}
	}
	return longest
}

// acts measures what reached the resource.
func (f *Figures) acts(events []history.Event, terms []span) {
	for _, ev := range events {
		if ev.Kind == history.Acted {
			f.Acts++
		}
	}
	for _, late := range lateActs(events, terms) {
		f.ActOverlap = max(f.ActOverlap, late.At-late.Began)
		f.StaleAttempted++
		if late.Unfenced {
			f.StaleAcceptedUnfenced++
		}
		if late.Taken {
			f.StaleAcceptedFenced++
		}
	}
}

// successor is the first term that began after the term of an act and before the
// act arrived. An act whose term is unknown has none.
func successor(terms []span, act history.Event) (span, bool) {
	own := latest(terms, act.Actor, act.Token)
	if own < 0 {
		return span{}, false
	}
	for _, t := range terms[own+1:] {
		if t.start >= act.At {
			break
		}
		if t.start > terms[own].start {
			return t, true
		}
	}
	return span{}, false
}
