package decide

import (
	"fmt"
	"slices"
	"strings"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// nothingDecided is what flaws begin with.
const nothingDecided = "Nothing is decided: "

// flawed says why nothing can be decided on a result, and which command to go on with;
// "" when it can.
func flawed(r *compare.Result) (flaw, next string) {
	total := r.Plan.Total()
	switch {
	case len(r.Broken) > 0:
		return fmt.Sprintf(nothingDecided+"%s broken, the first with seed %d.", were(len(r.Broken), "rule"), r.Broken[0].Job.Seed),
			r.Broken[0].Job.Command(r.Lab)
	case len(r.Failed) > 0:
		return fmt.Sprintf(nothingDecided+"%s not played, the first with seed %d.", were(len(r.Failed), "run"), r.Failed[0].Job.Seed),
			r.Failed[0].Job.Command(r.Lab)
	case r.Interrupted || r.GaveUp || r.Runs < total:
		return fmt.Sprintf(nothingDecided+"only %d of %s played.", r.Runs, were(total, "run")), ""
	}
	return "", ""
}

func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return plural(n, noun) + " were"
}

// explain fills in Reason and Next.
func (d *Decision) explain(r *compare.Result) {
	switch {
	case !d.SLO.Asks() && d.Choice != nil:
		d.Reason = fmt.Sprintf("Nothing was asked for: any mode fits, and %s is the cheapest.", d.Choice.Mode)
	case d.Met:
		d.chosen()
	default:
		d.refused(r)
	}
}

// chosen says what fits, what it costs, and what becomes of the others.
func (d *Decision) chosen() {
	c := d.Choice
	parts := []string{fmt.Sprintf("%s fits at a TTL of %s, for %s.", c.Mode, duration(c.TTL), c.cost())}
	var too []string
	others := false
	for i := range d.Options {
		switch o := &d.Options[i]; {
		case o == c:
		case o.Fits:
			too = append(too, fmt.Sprintf("%s (%s)", o.Mode, o.cost()))
		default:
			others = true
		}
	}
	if len(too) > 0 {
		parts = append(parts, fmt.Sprintf("At a higher cost %s would do.", list(too)))
	}
	if others {
		parts = append(parts, fmt.Sprintf("Of the others, %s.", misses(d.Options)))
	}
	if a := c.Advice; a != nil {
		parts = append(parts, fmt.Sprintf("Deploy the TTL of %s: it is what was measured. There is room: a TTL of %s should do as well%s; that is worked out and not measured, so confirm it first.",
			duration(c.TTL), duration(a.TTL), a.saves(c)))
		d.Next = a.Confirm
	}
	d.Reason = strings.Join(parts, " ")
}

// saves says what an advised TTL spares the masters.
func (a *Advice) saves(o *Option) string {
	if a.Rate == 0 || o.Rate <= a.Rate {
		return ""
	}
	return fmt.Sprintf(", with %s commands a second in place of %s", PerSecond(a.Rate), PerSecond(o.Rate))
}

// refused says what rules each mode out, and what would help.
func (d *Decision) refused(r *compare.Result) {
	parts := []string{fmt.Sprintf("At the TTL of %s that was played, %s.", duration(r.Plan.TTL), misses(d.Options))}
	best := d.promising()
	switch {
	case d.Elsewhere != Here:
		parts = append(parts, d.Elsewhere.text(d.SLO))
	case best != nil:
		parts = append(parts, fmt.Sprintf("With a TTL of %s and a renewal every %s %s should fit, for %s; that is worked out and not measured.",
			duration(best.TTL), duration(best.Renew), best.Mode, best.cost()))
		d.Next = best.Advice.Confirm
	default:
		parts = append(parts, "Measure more before you decide.")
		d.Next = again(r, d.SLO)
	}
	d.Reason = strings.Join(parts, " ")
}

// promising is the cheapest option that should fit at another TTL; nil when none should.
func (d *Decision) promising() *Option {
	var best *Option
	for i := range d.Options {
		o := &d.Options[i]
		if o.Advice != nil && !o.Fits && (best == nil || o.cheaper(best)) {
			best = o
		}
	}
	return best
}

// misses lists what was missed or not measured, requirement by requirement.
func misses(options []Option) string {
	var parts []string
	for _, f := range fields {
		var out, unknown []string
		rule := ""
		for i := range options {
			for _, c := range options[i].Checks {
				switch {
				case c.Key != f.key || c.State == Met:
					continue
				case c.State == Missed:
					out = append(out, fmt.Sprintf("%s (%s)", options[i].Mode, c.Value))
				case !slices.Contains(unknown, c.advised()):
					unknown = append(unknown, c.advised())
				}
				rule = c.Rule
			}
		}
		if len(out) > 0 {
			parts = append(parts, fmt.Sprintf("%s (%s) rules out %s", f.key, rule, list(out)))
		}
		if len(unknown) > 0 {
			parts = append(parts, fmt.Sprintf("%s (%s) was not measured: %s", f.key, rule, list(unknown)))
		}
	}
	return strings.Join(parts, "; ")
}

// cost is servers and, where known, commands.
func (o *Option) cost() string {
	text := plural(o.Servers, "server")
	if o.Rate > 0 {
		text += " and " + PerSecond(o.Rate) + " commands a second"
	}
	return text
}

// notes are what a reader must know whatever was decided.
func notes(d *Decision, r *compare.Result) []string {
	var list []string
	slo := d.SLO
	if d.Elsewhere == Consensus || d.Elsewhere == Nowhere {
		list = append(list, figures())
	}
	if r.Lab == history.Virtual {
		list = append(list, "All figures are simulated: they compare modes and faults, and are not latencies of your network.")
	}
	if slo.Overlap.Set && slo.Fence == Unsaid {
		list = append(list, "It was not said whether the resource compares tokens. What a leader does after a pause between its check and its act is left out of this answer; say fence=yes or fence=no.")
	}
	if slo.Overlap.Set {
		list = append(list, remaining(r)...)
	}
	if slo.Fence == Yes {
		list = append(list, "That the resource compares tokens is taken on your word. It must do so in one step with the act, and be raised to a new term's token before the work starts.")
	}
	if slo.Fence == No {
		list = append(list, "Nothing compares tokens: whatever a leader does after a pause comes through, in every mode, and with etcd and ZooKeeper too. Make the work idempotent, or accept it.")
	}
	for _, m := range r.Plan.Modes {
		if m.Masters == 1 {
			return append(list, "single is counted as one server. Replicas and Sentinels that promote them come on top.")
		}
	}
	return list
}

// remaining says what guards cannot close, where it was played.
func remaining(r *compare.Result) []string {
	var parts []string
	for _, f := range fault.All() {
		var runs, with int
		var longest float64
		for _, c := range r.Cells {
			if c.Fault == f.Name && f.Danger == fault.Remaining && c.Guards != history.GuardsOff {
				runs, with, longest = runs+c.Runs, with+c.BeliefWindow.N, max(longest, c.BeliefWindow.Max)
			}
		}
		if with > 0 {
			parts = append(parts, fmt.Sprintf("%s (two led in %d of %d runs, for up to %s)", f.Name, with, runs, short(milliseconds(longest))))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Not counted as overlap, since no guard closes it: " + list(parts) + ". Tokens at the resource help, and replica_acks for old-primary, " +
		"where no replica is cut off with the old primary."}
}
