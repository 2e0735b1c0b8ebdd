package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"incumbent/compare/history"
)

// Rules that a history must keep: whatever strikes, or where [Promises] says so.
const (
	// TokenOrder: each term's token is larger than those of all earlier terms.
	TokenOrder = "tokens strictly increase"
	// TokenShared: no two terms have one token, and none has token 0.
	TokenShared = "one token, one term"
	// BeliefOverlap: the terms of two candidates are never valid together, where
	// that is promised.
	BeliefOverlap = "one leader by belief"
	// ActOverlap: no act of an earlier term arrives after a later term began, where
	// that is promised.
	ActOverlap = "one leader by its acts"
	// FenceHolds: a resource with a fence takes no stale act once it has seen an act
	// of a later term.
	FenceHolds = "no stale act passes the fence"
	// RenewalLate: no renewal counts after the term's deadline, nor, where one
	// leader is promised, after a later term began.
	RenewalLate = "a late renewal does not count"
	// EventOrder: a term starts, then renews, then stops, then ends, once each;
	// its candidate has no other term meanwhile.
	EventOrder = "terms start, stop and end in order"
	// ActWithoutTerm: whoever checks is told yes only during its term, and acts
	// only under a term that it had.
	ActWithoutTerm = "no act without a term"
	// LeaderInTheEnd: when all that struck is over, and guards have had their time,
	// some candidate's term is valid, where that is promised.
	LeaderInTheEnd = "somebody leads in the end"
	// DeadlineFromSent: a deadline is a TTL from before the request, less what is given
	// up against clocks of different speed, where times are exact.
	DeadlineFromSent = "the deadline counts from before the request"
	// RenewalSentLate: no renewal counts that was sent after another candidate's later
	// term began, where that is promised.
	RenewalSentLate = "no renewal counts that was sent after a later term began"
	// StepDownKept: the work is told StepDown before the term's deadline, where times
	// are exact and nobody is stopped.
	StepDownKept = "the work is told StepDown before the end"
)

// A Violation is a rule that a history broke.
type Violation struct {
	// Rule is one of the constants of this package.
	Rule string
	// At is when, Actor who.
	At    time.Duration
	Actor string
	// Text says what was seen.
	Text string
}

// String is the violation in one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s: %s at %s: %s", v.Rule, v.Actor, v.At, v.Text)
}

// Check looks for broken rules, and returns what it found in order of time. What is
// promised depends on the run's fault and guards: see [Promises].
func Check(run history.Run) []Violation {
	events := sorted(run)
	terms := termsOf(events, run.Length)
	c := &checker{promise: Promises(run), ttl: run.TTL, terms: terms, live: map[string]*live{}, fence: fence{terms: terms}}
	c.tokens()
	if c.promise.Belief {
		c.beliefs()
	}
	if c.promise.Lead {
		c.end(run.Length)
	}
	for _, ev := range events {
		c.event(ev)
	}
	slices.SortFunc(c.found, byTime)
	return c.found
}

// byTime orders violations.
func byTime(a, b Violation) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Text, b.Text))
}

type checker struct {
	promise Promise
	ttl     time.Duration
	terms   []span
	live    map[string]*live // each actor's latest term
	fence   fence
	found   []Violation
}

// live is a term as the events so far tell it.
type live struct {
	token          uint64
	deadline       time.Duration
	told           time.Duration // when the work was told to stop, if it was
	stopped, ended bool
}

func (c *checker) add(rule string, at time.Duration, actor, format string, args ...any) {
	c.found = append(c.found, Violation{rule, at, actor, fmt.Sprintf(format, args...)})
}

// tokens compares each term with all earlier ones.
func (c *checker) tokens() {
	var top span
	for i, t := range c.terms {
		switch {
		case t.token == 0:
			c.add(TokenShared, t.start, t.actor, "a term with token 0")
		case slices.ContainsFunc(c.terms[:i], func(e span) bool { return e.token == t.token }):
			c.add(TokenShared, t.start, t.actor, "token %d belongs to an earlier term already", t.token)
		case t.token < top.token && c.promise.Tokens:
			c.add(TokenOrder, t.start, t.actor, "token %d after %d of %s", t.token, top.token, top.actor)
		}
		if t.token > top.token {
			top = t
		}
	}
}

// beliefs compares each term with all earlier ones of other candidates.
func (c *checker) beliefs() {
	for i, later := range c.terms {
		for _, earlier := range c.terms[:i] {
			if d := earlier.end - later.start; d > 0 && earlier.actor != later.actor {
				c.add(BeliefOverlap, later.start, later.actor, "token %d is valid while %s is for another %s, by token %d",
					later.token, earlier.actor, d, earlier.token)
			}
		}
	}
}

// end looks at who leads when the history ends.
func (c *checker) end(length time.Duration) {
	if slices.ContainsFunc(c.terms, func(t span) bool { return t.end >= length }) {
		return
	}
	var last span
	for _, t := range c.terms {
		if t.end > last.end {
			last = t
		}
	}
	c.add(LeaderInTheEnd, length, cmp.Or(last.actor, "nobody"), "no term has been valid for %s", length-last.end)
}

// event checks one event against those before.
func (c *checker) event(ev history.Event) {
	t := c.live[ev.Actor]
	switch ev.Kind {
	case history.TermStarted:
		if t != nil && !t.ended {
			c.add(EventOrder, ev.At, ev.Actor, "term %d starts before term %d has ended", ev.Token, t.token)
		}
		c.live[ev.Actor] = &live{token: ev.Token, deadline: ev.Deadline}
		c.fromSent(ev)
	case history.Renewed, history.TermStopping, history.TermEnded, history.Checked:
		c.during(t, ev)
	case history.Acted:
		c.acted(ev)
	}
}

// during checks an event that belongs to a live term.
func (c *checker) during(t *live, ev history.Event) {
	if t == nil || t.token != ev.Token {
		rule := EventOrder
		if ev.Kind == history.Checked {
			rule = ActWithoutTerm
		}
		c.add(rule, ev.At, ev.Actor, "%s for term %d, which is not its latest", ev.Kind, ev.Token)
		return
	}
	switch ev.Kind {
	case history.Renewed:
		c.renewed(t, ev)
	case history.TermStopping:
		if t.stopped || t.ended {
			c.add(EventOrder, ev.At, ev.Actor, "term %d stops again, or after its end", ev.Token)
		}
		t.stopped, t.told = true, ev.At
	case history.TermEnded:
		if t.ended {
			c.add(EventOrder, ev.At, ev.Actor, "term %d ends again", ev.Token)
		}
		t.ended = true
		c.stepDown(t, ev)
	case history.Checked:
		if t.ended || ev.At >= t.deadline && t.deadline > 0 {
			c.add(ActWithoutTerm, ev.At, ev.Actor, "Valid was true for term %d after its end", ev.Token)
		}
	}
}

// renewed checks a renewal that counted.
func (c *checker) renewed(t *live, ev history.Event) {
	later, ok := successor(c.terms, ev)
	switch {
	case t.ended:
		c.add(RenewalLate, ev.At, ev.Actor, "term %d is renewed after its end", ev.Token)
	case ev.At >= t.deadline && t.deadline > 0:
		c.add(RenewalLate, ev.At, ev.Actor, "term %d is renewed %s after its deadline", ev.Token, ev.At-t.deadline)
	case ok && c.promise.Belief:
		c.add(RenewalLate, ev.At, ev.Actor, "term %d is renewed %s after term %d of %s began",
			ev.Token, ev.At-later.start, later.token, later.actor)
	}
	t.deadline = max(t.deadline, ev.Deadline)
	c.fromSent(ev)
	c.sentLate(ev)
}

// acted checks an act that reached the resource.
func (c *checker) acted(ev history.Event) {
	if latest(c.terms, ev.Actor, ev.Token) < 0 {
		c.add(ActWithoutTerm, ev.At, ev.Actor, "an act under token %d, which it never had", ev.Token)
		return
	}
	later, stale := successor(c.terms, ev)
	if stale && c.promise.Acts {
		c.add(ActOverlap, ev.At, ev.Actor, "an act under token %d arrived %s after term %d of %s began",
			ev.Token, ev.At-later.start, later.token, later.actor)
	}
	if late := c.fence.failed(ev); late && stale {
		c.add(FenceHolds, ev.At, ev.Actor, "an act under token %d was taken %s after term %d of %s began",
			ev.Token, ev.At-later.start, later.token, later.actor)
	}
}

// fence follows what a resource with a fence has seen.
type fence struct {
	terms []span
	seen  int // terms, up to the latest that has acted
}

// failed reports whether a resource has taken an act though it had seen one of a
// later term. A fence knows a term from its first act on: what it takes of earlier
// ones before comes before all that the later leader does.
func (f *fence) failed(act history.Event) bool {
	own := latest(f.terms, act.Actor, act.Token)
	if own < 0 {
		return false
	}
	late := f.seen > own+1 && f.terms[own].start < f.terms[f.seen-1].start
	f.seen = max(f.seen, own+1)
	return late && act.Fenced
}
