package decide

import (
	"cmp"
	"fmt"
	"time"

	"incumbent/compare"
)

// MinRuns is how many runs a cell needs before it counts as measured: with fewer, what
// goes wrong in every seventh run would pass unseen too often (in 20 runs without it,
// its share is at most 14 %, with 95 % confidence).
const MinRuns = 20

// Decide holds r against slo. Nothing is met by a part of a run, or by one in which a
// rule was broken.
func Decide(slo SLO, r *compare.Result) Decision {
	d := Decision{SLO: slo}
	for _, m := range r.Plan.Modes {
		d.Options = append(d.Options, newSubject(slo, r, m).option())
	}
	if flaw, next := flawed(r); flaw != "" {
		for i := range d.Options {
			d.Options[i].spoil(flaw)
		}
		d.Flaw, d.Reason, d.Next = flaw, flaw, next
	} else {
		d.Choice = cheapest(d.Options)
		d.Met = d.Choice != nil
		d.Elsewhere = elsewhere(slo, d.Options)
		d.explain(r)
	}
	d.Notes = notes(&d, r)
	return d
}

// cheapest is the option that fits with the fewest servers, then the fewest commands a
// second; nil when none fits. A rate that was not measured counts as the largest.
func cheapest(options []Option) *Option {
	var best *Option
	for i := range options {
		o := &options[i]
		if o.Fits && (best == nil || o.cheaper(best)) {
			best = o
		}
	}
	return best
}

func (o *Option) cheaper(than *Option) bool {
	unmeasured := func(rate float64) int {
		if rate > 0 {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(o.Servers, than.Servers),
		cmp.Compare(unmeasured(o.Rate), unmeasured(than.Rate)),
		cmp.Compare(o.Rate, than.Rate),
	) < 0
}

// spoil takes back what an option seems to fit: the run it rests on is no good.
func (o *Option) spoil(flaw string) {
	o.Fits = false
	o.Misses = append([]string{flaw}, o.Misses...)
	o.Advice = nil
	o.TTL, o.Renew = 0, 0
}

// option judges the mode.
func (s *subject) option() Option {
	o := Option{Mode: s.mode, Servers: s.mode.Masters, Played: s.r.Plan.TTL, Checks: s.checks()}
	for _, c := range o.Checks {
		if c.State != Met {
			o.Misses = append(o.Misses, c.sentence())
		}
	}
	o.Fits = len(o.Misses) == 0
	o.Failover = s.failoverBound(o.Played)
	o.Rate = s.rate(o.Played)
	o.Advice = s.advice(&o)
	switch a := o.Advice; {
	case o.Fits:
		o.TTL, o.Renew = o.Played, s.renew(o.Played).Truncate(time.Millisecond)
	case a != nil:
		o.TTL, o.Renew, o.Failover, o.Rate = a.TTL, a.Renew, a.Failover, a.Rate
	}
	return o
}

// sentence is a check that was not met.
func (c Check) sentence() string {
	if c.State == Missed {
		return fmt.Sprintf("%s: %s; asked for: %s.", c.Key, c.Found, c.Rule)
	}
	return fmt.Sprintf("%s: not measured: %s.", c.Key, c.advised())
}

// advised is what was found, and the flag that measures more.
func (c Check) advised() string {
	if c.Add == "" {
		return c.Found
	}
	return c.Found + " (add " + c.Add + ")"
}

// keys lists the keys of checks in a state.
func (o *Option) keys(state State) []string {
	var keys []string
	for _, c := range o.Checks {
		if c.State == state {
			keys = append(keys, c.Key)
		}
	}
	return keys
}
