package decide

import (
	"fmt"
	"slices"
	"strings"
)

// Undecided reports whether d is no answer: nothing fits, but something may. Either the
// run is no basis for a decision (see Flaw), or for at least one mode nothing was measured
// and missed, and something was not measured: a fault was not played, or in too few runs.
// Where d is neither met nor undecided, each mode was measured to miss something.
func (d Decision) Undecided() bool {
	if d.Met {
		return false
	}
	return d.Flaw != "" || slices.ContainsFunc(d.Options, Option.Undecided)
}

// Undecided reports whether something was not measured of the mode, and nothing that was
// is missed.
func (o Option) Undecided() bool {
	return len(o.keys(Missed)) == 0 && len(o.keys(NotMeasured)) > 0
}

// Conclusion is the answer in a few words that begin with it, for a screen: which mode to
// choose, what to do where none fits, or what to add where it could not be told. Reason
// says more.
func (d Decision) Conclusion() string {
	switch {
	case d.Met && d.Choice != nil:
		return d.choose()
	case d.Flaw != "":
		return fmt.Sprintf("NOT DECIDED %s: %s", d.SLO, strings.TrimPrefix(d.Flaw, nothingDecided))
	case d.Undecided():
		return fmt.Sprintf("NOT DECIDED %s: not measured: %s; add %s.", d.SLO, list(d.unmeasured()), strings.Join(d.add(), " "))
	case len(d.Options) == 0:
		return fmt.Sprintf("NO MODE FITS %s: none was played.", d.SLO)
	}
	return fmt.Sprintf("NO MODE FITS %s: %s. At a TTL of %s, %s.", d.SLO, d.remedy(), duration(d.Options[0].Played), d.missed())
}

// choose names the mode, its settings and its price.
func (d Decision) choose() string {
	c := d.Choice
	s := fmt.Sprintf("For %s choose %s with TTL %s, renewed every %s: %s", d.SLO, c.Mode, duration(c.TTL), duration(c.Renew), plural(c.Servers, "server"))
	if c.Rate > 0 {
		s += ", " + PerSecond(c.Rate) + " commands a second"
	}
	if c.Failover > 0 {
		s += fmt.Sprintf("; failover after a crash is expected within %s", short(c.Failover))
	}
	if c.Advice != nil {
		s += fmt.Sprintf("; a longer TTL, %s, may do: measure it", duration(c.Advice.TTL))
	}
	return s + "."
}

// remedy is what to do where each mode misses something.
func (d Decision) remedy() string {
	best := d.promising()
	switch {
	case d.Elsewhere == Consensus:
		return "consensus is due (etcd, ZooKeeper)"
	case d.Elsewhere == Resource:
		return "no elector can give that; only a resource that compares tokens"
	case d.Elsewhere == Nowhere:
		return "one requirement must give way"
	case best != nil:
		return fmt.Sprintf("%s may with a TTL of %s: measure it", best.Mode, duration(best.TTL))
	case quorums(d.Options):
		return "no mode that was played keeps to it"
	}
	return "no quorum was played"
}

// missed lists what rules modes out, shortly.
func (d Decision) missed() string {
	var parts []string
	for _, f := range fields {
		var out []string
		for _, o := range d.Options {
			for _, c := range o.Checks {
				if c.Key == f.key && c.State == Missed {
					out = append(out, fmt.Sprintf("%s (%s)", o.Mode, c.Value))
				}
			}
		}
		if len(out) > 0 {
			parts = append(parts, fmt.Sprintf("%s rules out %s", f.key, list(out)))
		}
	}
	return strings.Join(parts, "; ")
}

// unmeasured lists the requirements that could not be judged in a mode.
func (d Decision) unmeasured() []string {
	var keys []string
	for _, o := range d.Options {
		keys = append(keys, o.keys(NotMeasured)...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// add lists the flags that measure what was not. One that asks for all faults leaves no
// other of them to ask for.
func (d Decision) add() []string {
	var faults, others []string
	for _, o := range d.Options {
		for _, c := range o.Checks {
			name, isFault := strings.CutPrefix(c.Add, "--faults ")
			switch {
			case c.State != NotMeasured || c.Add == "":
			case isFault && !slices.Contains(faults, name):
				faults = append(faults, name)
			case !isFault && !slices.Contains(others, c.Add):
				others = append(others, c.Add)
			}
		}
	}
	if len(faults) > 1 {
		faults = []string{"all"}
	}
	if len(faults) > 0 {
		others = append([]string{"--faults " + faults[0]}, others...)
	}
	return others
}
