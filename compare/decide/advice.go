package decide

import (
	"fmt"
	"slices"
	"time"

	"incumbent/compare"
)

// How another TTL is chosen.
const (
	// headroom is the part of a limit that the advice uses.
	headroom = 0.9
	// room is by how much longer a TTL must be to be worth advising when all is met.
	room = 2
	// longest is the longest TTL that is advised for nothing but fewer commands.
	longest = time.Minute
	// tries is how many hand-overs must fit into a TTL.
	tries = 10
)

// shortest is the shortest TTL that the link allows. A try to renew may take a quarter
// of a TTL, and three fit before the leader steps down; a hand-over is two to four round
// trips. With ten hand-overs in a TTL, a try has several times the time that it usually
// takes. Without a resignation in the plan the median overshoot of a crash stands for one.
func (s *subject) shortest() time.Duration {
	var handover time.Duration
	if c, missing := s.cell(resign); missing == nil {
		handover = milliseconds(c.Failover.Max)
	} else if c, missing := s.cell(crash); missing == nil {
		handover = milliseconds(c.Overshoot.P50)
	}
	return max(compare.MinTTL, roundUp(tries*handover))
}

// leaderlessBound is the longest time without a leader to expect after a restart, at a
// TTL; 0 when none was measured. A single master that restarted grants nothing until it
// has been up for a TTL and a second, which it counts in whole seconds. In a quorum the
// others elect as leases and guards run out, which takes a part of a TTL.
func (s *subject) leaderlessBound(ttl time.Duration) time.Duration {
	if _, missing := s.cell(restart); missing != nil {
		return 0
	}
	worst, _ := s.worstRestart()
	seen, played := milliseconds(worst.Leaderless.Max), s.r.Plan.TTL
	if ttl == played {
		return seen
	}
	if s.mode.Masters == 1 {
		return uptime(ttl) + max(0, seen-uptime(played))
	}
	return s.overshoot(ttl) + scaled(seen, ttl, played)
}

// uptime is for how long a master has been up, at most, when it grants its first lease.
// Candidates look again after a TTL at the latest, so that they come late where it is
// shorter than the second that is counted.
func uptime(ttl time.Duration) time.Duration {
	needed := upTo(ttl, time.Second) + time.Second
	if ttl < time.Second {
		return upTo(needed, ttl)
	}
	return needed
}

// upTo rounds d up to a multiple of unit.
func upTo(d, unit time.Duration) time.Duration {
	if down := d.Truncate(unit); down < d {
		return down + unit
	}
	return d
}

// advice is another TTL that should fit: for a mode that misses nothing but what a TTL
// mends, and for one that has much room. nil when there is none.
func (s *subject) advice(o *Option) *Advice {
	for _, key := range o.keys(Missed) {
		if !slices.Contains([]string{Failover, Leaderless, Commands}, key) {
			return nil
		}
	}
	spare := len(o.keys(Missed)) == 0
	if spare && !o.Fits || s.failoverBound(o.Played) == 0 {
		return nil
	}
	ttl := s.fitting()
	if ttl == 0 || ttl == o.Played || spare && ttl < room*o.Played {
		return nil
	}
	a := &Advice{TTL: ttl, Renew: s.renew(ttl).Truncate(time.Millisecond), Failover: s.failoverBound(ttl), Leaderless: s.leaderlessBound(ttl), Rate: s.rate(ttl)}
	a.Why = s.why(a)
	a.Confirm = s.confirm(ttl, len(o.keys(NotMeasured)) > 0)
	return a
}

// fitting is the longest TTL that should keep to all limits; 0 when there is none.
func (s *subject) fitting() time.Duration {
	least, most := s.shortest(), longest
	if s.slo.Commands.Set {
		least = max(least, roundUp(time.Duration(s.rate(time.Second)/(headroom*s.slo.Commands.Max)*float64(time.Second))))
		most = max(most, least)
	}
	for ttl := roundDown(most); ttl >= least && ttl > 0; ttl = roundDown(ttl - 1) {
		if s.keeps(ttl, headroom) {
			return ttl
		}
	}
	if s.keeps(least, 1) {
		return least
	}
	return 0
}

// keeps reports whether a TTL should use no more than a part of the limits in time.
func (s *subject) keeps(ttl time.Duration, part float64) bool {
	within := func(l Limit[time.Duration], d time.Duration) bool {
		return !l.Set || d <= time.Duration(part*float64(l.Max))
	}
	return s.at(ttl).Validate() == nil && within(s.slo.Failover, s.failoverBound(ttl)) && within(s.slo.Leaderless, s.leaderlessBound(ttl))
}

// at is the plan for this mode at another TTL, with renewals as the library chooses them.
func (s *subject) at(ttl time.Duration) compare.Plan {
	p := s.r.Plan
	p.Modes, p.TTL, p.Renew = []compare.Mode{s.mode}, ttl, 0
	return p
}

// step is how finely TTLs are advised.
func step(d time.Duration) time.Duration {
	switch {
	case d > 20*time.Second:
		return 5 * time.Second
	case d > 10*time.Second:
		return time.Second
	case d > 2*time.Second:
		return 500 * time.Millisecond
	case d > time.Second:
		return 100 * time.Millisecond
	}
	return 50 * time.Millisecond
}

func roundDown(d time.Duration) time.Duration { return d.Truncate(step(d)) }

func roundUp(d time.Duration) time.Duration { return upTo(d, step(d)) }

// why says what an advice is worked out from.
func (s *subject) why(a *Advice) string {
	played := s.r.Plan.TTL
	text := fmt.Sprintf("Worked out, not measured: a failover takes at most the TTL and the overshoot, which was %s in the slowest run at a TTL of %s.",
		short(s.overshoot(played)), duration(played))
	switch {
	case a.Leaderless > 0 && s.mode.Masters == 1:
		text += fmt.Sprintf(" After a restart of the master nobody leads for about %s: it must have been up for a TTL and a second, in whole seconds.", short(a.Leaderless))
	case a.Leaderless > 0:
		text += fmt.Sprintf(" After a restart of one master nobody leads for about %s, in proportion to the TTL; in rare runs it is a TTL and a second.", short(a.Leaderless))
	}
	if a.Rate > 0 {
		text += " Commands a second go down as the TTL goes up."
	}
	text += fmt.Sprintf(" The link allows no TTL below %s: %d hand-overs must fit into it.", duration(s.shortest()), tries)
	if a.TTL < time.Second {
		text += " A process that pauses for longer than the TTL loses its leadership: know its pauses before you go below 1s."
	}
	return text
}
