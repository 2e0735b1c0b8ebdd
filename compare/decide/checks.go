package decide

import (
	"fmt"
	"time"

	"incumbent/compare/measure"
)

// checks judges all that the SLO asks for, in the order of its keys.
func (s *subject) checks() []Check {
	var list []Check
	add := func(asked bool, key string, check func() Check) {
		if asked {
			c := check()
			c.Key = key
			c.Rule = s.slo.rule(key)
			list = append(list, c)
		}
	}
	add(s.slo.Failover.Set, Failover, s.failover)
	add(s.slo.Handover.Set, Handover, s.handover)
	add(s.slo.Leaderless.Set, Leaderless, s.leaderless)
	add(s.slo.Overlap.Set, Overlap, s.overlap)
	add(s.slo.Fence != Unsaid, Fence, s.fence)
	add(s.slo.Servers.Set, Servers, s.servers)
	add(s.slo.Commands.Set, Commands, s.commands)
	add(s.slo.Survive != Unsaid, Survive, s.survive)
	return list
}

// met is Met or Missed.
func met(ok bool) State {
	if ok {
		return Met
	}
	return Missed
}

// limited is a check of a limit that none of n runs exceeds when it is met.
func limited(ok bool, n int, value, otherwise, found string) Check {
	c := Check{State: met(ok), Value: value, Found: found}
	if ok {
		c.Found += seldom(otherwise, n)
	}
	return c
}

// nobody is the check of a cell in which some runs had no successor.
func nobody(c measure.Cell) Check {
	found := fmt.Sprintf("nobody followed in %d of %s", c.Runs-c.Failover.N, plural(c.Runs, "run"))
	return Check{State: Missed, Value: found, Found: found}
}

// failover: a crash strikes at any moment, the worst being right after a renewal. So the
// limit is for a whole TTL and the largest overshoot, not only for what was seen.
func (s *subject) failover() Check {
	c, missing := s.cell(crash)
	switch {
	case missing != nil:
		return *missing
	case c.Failover.N < c.Runs:
		return nobody(c)
	}
	bound := s.failoverBound(s.r.Plan.TTL)
	return limited(bound <= s.slo.Failover.Max, c.Runs, short(bound), "slower", fmt.Sprintf(
		"up to %s after a crash: the TTL of %s, and %s as the largest overshoot of %s (the longest seen was %s)",
		short(bound), duration(s.r.Plan.TTL), short(milliseconds(c.Overshoot.Max)), plural(c.Runs, "run"),
		short(milliseconds(c.Failover.Max))))
}

// failoverBound is the longest failover to expect at a TTL; 0 when none was measured.
func (s *subject) failoverBound(ttl time.Duration) time.Duration {
	c, missing := s.cell(crash)
	if missing != nil || c.Failover.N == 0 {
		return 0
	}
	bound := ttl + s.overshoot(ttl)
	if ttl == s.r.Plan.TTL {
		return max(bound, milliseconds(c.Failover.Max))
	}
	return bound
}

// overshoot is the largest one to expect at a TTL. Retries after split votes are parts
// of a TTL, so it may grow with it; that it shrinks with it is not relied on.
func (s *subject) overshoot(ttl time.Duration) time.Duration {
	c, missing := s.cell(crash)
	if missing != nil {
		return 0
	}
	seen := max(0, milliseconds(c.Overshoot.Max))
	if ttl <= s.r.Plan.TTL {
		return seen
	}
	return scaled(seen, ttl, s.r.Plan.TTL)
}

// scaled is d, seen at one TTL, at another one to which it is in proportion.
func scaled(d, ttl, played time.Duration) time.Duration {
	return time.Duration(float64(d) * ttl.Seconds() / played.Seconds())
}

func (s *subject) handover() Check {
	c, missing := s.cell(resign)
	switch {
	case missing != nil:
		return *missing
	case c.Failover.N < c.Runs:
		return nobody(c)
	}
	worst := milliseconds(c.Failover.Max)
	return limited(worst <= s.slo.Handover.Max, c.Runs, short(worst), "slower",
		fmt.Sprintf("up to %s after a resignation, in %s", short(worst), plural(c.Runs, "run")))
}

// leaderless needs the restart that costs guards most, and counts all that were played.
func (s *subject) leaderless() Check {
	if _, missing := s.cell(restart); missing != nil {
		return *missing
	}
	worst, runs := s.worstRestart()
	most := milliseconds(worst.Leaderless.Max)
	return limited(most <= s.slo.Leaderless.Max, runs, short(most), "longer", fmt.Sprintf(
		"nobody led for up to %s after the restart of one master (%s), in %s", short(most), worst.Fault, plural(runs, "run")))
}

// worstRestart is the cell of restarts with the longest time without a leader, and how
// many runs all of them have.
func (s *subject) worstRestart() (worst measure.Cell, runs int) {
	for i, c := range s.restarted() {
		runs += c.Runs
		if i == 0 || c.Leaderless.Max > worst.Leaderless.Max {
			worst = c
		}
	}
	return worst, runs
}

func (s *subject) servers() Check {
	n := plural(s.mode.Masters, "server")
	return Check{State: met(s.mode.Masters <= s.slo.Servers.Max), Value: n, Found: n}
}

func (s *subject) commands() Check {
	rate := s.rate(s.r.Plan.TTL)
	if rate == 0 {
		return *unmeasured("the load of masters was not", "--faults "+calm)
	}
	return Check{State: met(rate <= s.slo.Commands.Max), Value: PerSecond(rate), Found: fmt.Sprintf(
		"%s commands a second of %s at a TTL of %s", PerSecond(rate), plural(s.r.Plan.Candidates, "candidate"), duration(s.r.Plan.TTL))}
}

// survive: one master is no majority of anything. Of several, one is lost for good in
// the runs that count.
func (s *subject) survive() Check {
	if s.slo.Survive == No {
		return Check{State: Met, Value: "not needed", Found: "the election may wait for a master"}
	}
	if s.mode.Masters == 1 {
		return Check{State: Missed, Value: "one master",
			Found: "there is one master: nobody can be elected until it is back, or until a replica has been promoted"}
	}
	c, missing := s.cell(masterCrash)
	if missing != nil {
		return *missing
	}
	went := c.Kept + c.Failover.N
	value := fmt.Sprintf("%d of %s", went, plural(c.Runs, "run"))
	return limited(went == c.Runs, c.Runs, value, "it does not", fmt.Sprintf(
		"it went on in %s without one master, after up to %s without a leader", value, short(milliseconds(c.Leaderless.Max))))
}
