package decide

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// leastRuns is how many runs a cell has in commands that are to decide something.
const leastRuns = 100

// confirm is the command that plays the mode at a TTL against the SLO, with seeds that
// were not seen yet. When more has to be measured it plays all faults.
func (s *subject) confirm(ttl time.Duration, more bool) string {
	p := s.at(ttl)
	lab := s.r.Lab
	if more {
		p.Faults, lab = fault.Names(), history.Virtual // which has all of them, and time for many runs
	}
	return command(lab, p, s.slo)
}

// Confirm is the command that holds a result's modes and faults against the SLO once more,
// in the same lab, with seeds that were not played yet.
func Confirm(r *compare.Result, slo SLO) string { return command(r.Lab, r.Plan, slo) }

// again is the command that plays a result's plan against the SLO with all faults, and with
// quorums even where it has none: in the virtual lab, which has all of them, and time for
// many runs.
func again(r *compare.Result, slo SLO) string {
	p := r.Plan
	p.Faults = fault.Names()
	p.Guards = nil
	if !slices.ContainsFunc(p.Modes, func(m compare.Mode) bool { return m.Masters > 1 }) {
		p.Modes = append(slices.Clone(p.Modes), compare.Mode{Kind: "quorum", Masters: 3}, compare.Mode{Kind: "quorum", Masters: 5})
	}
	return command(history.Virtual, p, slo)
}

// command is what plays a plan in a lab against the SLO with the seeds that come next.
func command(lab string, p compare.Plan, slo SLO) string {
	var modes []string
	for _, m := range p.Modes {
		modes = append(modes, m.String())
	}
	args := []string{"incumbent compare"}
	add := func(flag, value string, set bool) {
		if set {
			args = append(args, flag, value)
		}
	}
	add("--lab", lab, lab != "" && lab != history.Virtual)
	add("--modes", strings.Join(modes, ","), true)
	add("--faults", strings.Join(fault.Shorten(p.Faults), ","), len(p.Faults) > 0)
	for _, s := range p.Schedules {
		add("--schedule", compare.ShellWord(s.Path), true)
	}
	add("--guards", strings.Join(p.Guards, ","), len(p.Guards) > 0)
	add("--ttl", duration(p.TTL), true)
	add("--renew", duration(p.Renew), p.Renew > 0)
	add("--candidates", strconv.Itoa(p.Candidates), true)
	add("--link", p.Link, p.Link != "")
	add("--loss", number(p.Loss), p.Loss > 0)
	add("--drift", number(p.Drift), p.Drift > 0)
	add("--seed", strconv.FormatUint(p.Seed+uint64(p.MostRuns()), 10), true)
	add("--runs", strconv.Itoa(max(p.Runs, leastRuns)), true)
	add("--slo", "'"+slo.String()+"'", slo.Asks())
	return strings.Join(args, " ")
}
