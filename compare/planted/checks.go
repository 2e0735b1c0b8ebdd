package planted

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
	"incumbent/internal/simnet"
)

// check looks at one run. Beside those of package measure there are some here that
// hold in the runs of this package: its candidates renew and step down as they do by
// default, and computing takes them no time.
type check struct {
	name string
	// find says what is wrong; nil where it is the name of a rule of measure.
	find func(run history.Run) []string
}

// played is the check that a run can be played at all: somebody leads in the
// beginning, and all processes end in time.
const played = "the run can be played"

// checks are all of them.
var checks = []check{
	{name: measure.TokenOrder},
	{name: measure.TokenShared},
	{name: measure.BeliefOverlap},
	{name: measure.ActOverlap},
	{name: measure.FenceHolds},
	{name: measure.RenewalLate},
	{name: measure.EventOrder},
	{name: measure.ActWithoutTerm},
	{name: measure.LeaderInTheEnd},
	{name: played},
	{"the deadline counts from before the request", deadlines},
	{"no renewal counts that was sent after a later term began", renewals},
	{"the work is told StepDown before the end", stepDowns},
	{"a lease that is lost ends the term at once", atOnce},
	{"a resignation hands over at once", handOver},
	{"the term after a resignation is another's", courtesy},
	{"a successor starts when the lease is free", overshoot},
	{"a dead leader's lease ends within two TTLs", cutShort},
	{"standbys sleep", standbys},
	{"split votes are rare", splits},
}

func findCheck(name string) (check, bool) {
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
	if i < 0 {
		return check{}, false
	}
	return checks[i], true
}

// finding is what a check has found.
type finding struct{ check, text string }

// judge applies all checks to what a run led to, in the order of the list.
func judge(run history.Run, err error) (found []finding) {
	if err != nil {
		return []finding{{played, err.Error()}}
	}
	for _, v := range measure.Check(run) {
		found = append(found, finding{v.Rule, v.String()})
	}
	for _, c := range checks {
		if c.find == nil {
			continue
		}
		for _, text := range c.find(run) {
			found = append(found, finding{c.name, text})
		}
	}
	return found
}

// term is one as its events tell it.
type term struct {
	history.Event               // its start
	deadline      time.Duration // the latest one
	stop, end     history.Event
}

// termsOf lists terms by their start, in the order of events.
func termsOf(run history.Run) []*term {
	var list []*term
	live := map[string]*term{}
	for _, ev := range run.Events {
		t := live[ev.Actor]
		switch {
		case ev.Kind == history.TermStarted:
			t = &term{Event: ev, deadline: ev.Deadline}
			live[ev.Actor], list = t, append(list, t)
		case t == nil || t.Token != ev.Token:
		case ev.Kind == history.Renewed:
			t.deadline = max(t.deadline, ev.Deadline)
		case ev.Kind == history.TermStopping:
			t.stop = ev
		case ev.Kind == history.TermEnded:
			t.end = ev
		}
	}
	return list
}

// struck is the fault of the run.
func struck(run history.Run) (history.Event, bool) {
	i := slices.IndexFunc(run.Events, func(ev history.Event) bool { return ev.Kind == history.Fault })
	if i < 0 {
		return history.Event{}, false
	}
	return run.Events[i], true
}

// near reports whether the run's network is quick and loses nothing.
func near(run history.Run) bool { return (run.Link == "" || run.Link == "lan") && run.Loss == 0 }

// is reports whether the run's fault is one of these.
func is(run history.Run, names ...string) bool { return slices.Contains(names, run.Fault) }

// given is what a deadline gives up against clocks of different speed.
func given(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// deadlines: no network is quicker than the lab's, so a deadline that counts from
// before the request is nearer than one from the answer.
func deadlines(run history.Run) (found []string) {
	for _, ev := range run.Events {
		if ev.Kind != history.TermStarted && ev.Kind != history.Renewed {
			continue
		}
		latest := ev.At - 2*simnet.LAN.Min + run.TTL - given(run.TTL)
		if ev.Deadline > latest {
			found = append(found, fmt.Sprintf("%s at %s: %s until %s, and must end by %s", ev.Actor, ev.At, ev.Kind, ev.Deadline, latest))
		}
	}
	return found
}

// renewals: whatever the guards are, the masters that one leader lost are those that
// the next one has; but where there are two primaries in one place.
func renewals(run history.Run) (found []string) {
	if f, err := fault.ByName(run.Fault); err != nil || f.Danger == fault.Remaining {
		return nil
	}
	terms := termsOf(run)
	for _, ev := range run.Events {
		if ev.Kind != history.Renewed {
			continue
		}
		sent := ev.Deadline - run.TTL + given(run.TTL)
		own := slices.IndexFunc(terms, func(t *term) bool { return t.Actor == ev.Actor && t.Token == ev.Token })
		for _, later := range terms[own+1:] {
			if own >= 0 && later.Actor != ev.Actor && sent > later.At {
				found = append(found, fmt.Sprintf("%s at %s: renewal of term %d, sent %s after term %d of %s began",
					ev.Actor, ev.At, ev.Token, sent-later.At, later.Token, later.Actor))
				break
			}
		}
	}
	return found
}

// stepDowns: a term that ends by its deadline was stopping before. A candidate that
// was frozen meanwhile finds both out at once.
func stepDowns(run history.Run) (found []string) {
	if f, err := fault.ByName(run.Fault); err != nil || f.Stalls {
		return nil
	}
	for _, t := range termsOf(run) {
		lapsed := t.end.Kind != "" && t.end.At >= t.deadline
		if notice := t.deadline - t.stop.At; lapsed && t.stop.Kind != "" && notice < run.TTL/10-time.Millisecond {
			found = append(found, fmt.Sprintf("%s: the work of term %d was told %s before its end", t.Actor, t.Token, notice))
		}
	}
	return found
}

// atOnce: with one master there is no doubt, and the next renewal tells.
func atOnce(run history.Run) (found []string) {
	ev, ok := struck(run)
	if !ok || run.Mode != "single" || !is(run, "del", "evict", "flushall", "restart-empty", "clock-jump") {
		return nil
	}
	for _, t := range termsOf(run) {
		end := t.end.At
		if t.end.Kind == "" {
			end = run.Length
		}
		if t.At < ev.At && end > ev.At+run.TTL/2 {
			found = append(found, fmt.Sprintf("%s: term %d still stood %s after its lease was lost", t.Actor, t.Token, end-ev.At))
		}
	}
	return found
}

// handOver: a wake-up takes a few messages, and split votes some rounds.
func handOver(run history.Run) []string {
	f := measure.Of(run)
	limit := run.TTL / 10
	if !is(run, "resign") || !near(run) || !f.FailedOver || f.Failover <= limit {
		return nil
	}
	return []string{fmt.Sprintf("the next term began %s after the resignation, later than %s", f.Failover, limit)}
}

// courtesy: whoever resigns lets others go first, for as long as a near one needs.
func courtesy(run history.Run) []string {
	ev, ok := struck(run)
	if !ok || !is(run, "resign") || !near(run) {
		return nil
	}
	for _, t := range termsOf(run) {
		if t.At > ev.At && t.Actor == ev.Actor {
			return []string{fmt.Sprintf("%s resigned, and leads again from %s on", t.Actor, t.At)}
		} else if t.At > ev.At {
			return nil
		}
	}
	return nil
}

// overshoot: a standby knows when the lease ends. Split votes cost some rounds more.
func overshoot(run history.Run) []string {
	f := measure.Of(run)
	limit := run.TTL / 10
	if !is(run, "crash", "partition") || !near(run) || !f.FailedOver || f.Overshoot <= limit {
		return nil
	}
	return []string{fmt.Sprintf("the next term began %s after the lease was free, later than %s", f.Overshoot, limit)}
}

// cutShort: a clock that was set back leaves a lease of any length. The first look
// at it is within a TTL, and cuts it to another.
func cutShort(run history.Run) []string {
	f := measure.Of(run)
	limit := 2*run.TTL + run.TTL/10
	if !is(run, "clock-back") || !f.FailedOver || f.Failover <= limit {
		return nil
	}
	return []string{fmt.Sprintf("the next term began %s after the leader had died, later than %s", f.Failover, limit)}
}

// standbys: each looks about once a TTL, and its subscription shows a sign of life now
// and then.
func standbys(run history.Run) []string {
	l := run.Load
	if l.Standbys == 0 || l.Span == 0 {
		return nil
	}
	looks := float64(l.Standby) / float64(l.Standbys*run.Masters) * run.TTL.Seconds() / l.Span.Seconds()
	if looks <= mostLooks {
		return nil
	}
	return []string{fmt.Sprintf("a standby sends %.2f commands a TTL and master, more than %.1f", looks, mostLooks)}
}

// mostLooks allows for the look that falls into the span by chance.
const mostLooks = 1.6

// splits: who bids at once with others draws a pause that grows with each split.
func splits(run history.Run) []string {
	if !is(run, "resign") || !near(run) {
		return nil
	}
	n := 0
	for _, ev := range run.Events {
		if ev.Kind == history.Note && ev.Err == "votes split" {
			n++
		}
	}
	if n <= mostSplits*run.Candidates {
		return nil
	}
	return []string{fmt.Sprintf("%d bids of %d candidates were lost to split votes", n, run.Candidates)}
}

// mostSplits is how many bids a candidate may lose to split votes, on average.
const mostSplits = 5

// first is the finding whose check comes first in the list of names; the zero
// finding if there is none.
func first(found []finding, names []string) finding {
	of := slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return !slices.Contains(names, f.check) })
	slices.SortStableFunc(of, func(a, b finding) int {
		return cmp.Compare(slices.Index(names, a.check), slices.Index(names, b.check))
	})
	if len(of) == 0 {
		return finding{}
	}
	return of[0]
}
