package planted

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// check looks at one run. Beside the rules of package measure there are some here that
// hold under certain faults, where the network is near: they say how soon something
// happens. With other parameters than those of this package's runs it may take longer, so
// they are no rules.
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
	{name: measure.DeadlineFromSent},
	{name: measure.RenewalSentLate},
	{name: measure.StepDownKept},
	{name: played},
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

// term is from when until when an actor had one.
type term struct {
	actor      string
	start, end time.Duration
}

// termsOf lists terms by their start. One without an end lasts as long as the run.
func termsOf(run history.Run) []term {
	var list []term
	latest := map[string]int{} // by actor
	for _, ev := range run.Events {
		switch ev.Kind {
		case history.TermStarted:
			latest[ev.Actor] = len(list)
			list = append(list, term{ev.Actor, ev.At, run.Length})
		case history.TermEnded:
			if i, ok := latest[ev.Actor]; ok {
				list[i].end = ev.At
			}
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

// atOnce: with one master there is no doubt, and the next renewal tells.
func atOnce(run history.Run) (found []string) {
	ev, ok := struck(run)
	if !ok || !near(run) || run.Mode != "single" || !is(run, "del", "evict", "flushall", "restart-empty", "clock-jump") {
		return nil
	}
	for _, t := range termsOf(run) {
		if t.start < ev.At && t.end > ev.At+run.TTL/2 {
			found = append(found, fmt.Sprintf("%s: its term still stood %s after its lease was lost", t.actor, t.end-ev.At))
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
		switch {
		case t.start <= ev.At:
		case t.actor == ev.Actor:
			return []string{fmt.Sprintf("%s resigned, and leads again from %s on", t.actor, t.start)}
		default:
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
