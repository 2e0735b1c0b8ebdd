package native

import "strings"

// acquire is one master's grant. argv: value, ttl ms, floor, holder, retention ms,
// seal, limit, max ttl ms, guards that are on, assume, id.
func acquire(c *call) Reply {
	a := newAcquisition(c)
	if c.odd {
		return nil
	}
	if a.mine && a.own > 0 { // R9, before all guards
		// rare: own-value-again
		return Reply{"granted", c.now, text(a.own), "", int64(0), "", "0", "0", a.server.run, a.notes}
	}
	a.arm()
	// A bid that was stuck on its way is nobody's any more (R10).
	if a.late {
		// rare: bid-handled-late
		return Reply{"late", c.now}
	}
	cut := a.cut()
	if a.held && !a.mine {
		return a.refuse(cut)
	}
	if wait, why := a.guarded(); wait > 0 {
		// rare: bid-guarded
		return Reply{"guarded", c.now, text(a.last), "", wait, why, "0", "0", a.server.run, a.notes}
	}
	token := max(a.last+1, c.now, a.floor+1)
	if token > top {
		return Reply{"spent", c.now}
	}
	return a.grant(token)
}

// acquisition is what acquire has read, and what it makes of it.
type acquisition struct {
	*call
	ttl, floor, retention, limit, longest int64
	server                                identity
	notes                                 string

	value        string // of the lease
	held, mine   bool
	last, own    int64
	length       int64 // of guards
	known        bool  // there is a record
	till         int64 // until when a lease of the record runs
	fresh, guard int64 // until when the guards of R6 and R4 are armed
	seen         string
	arms         int64
	on           string // letters of guards
	late         bool
	heir         string
	first        int64 // until when the heir goes first
}

// newAcquisition reads everything.
func newAcquisition(c *call) *acquisition {
	a := &acquisition{
		call: c, ttl: c.span(c.argv[1]), floor: c.number(c.argv[2]), retention: c.span(c.argv[4]),
		limit: c.number(c.argv[6]), longest: c.span(c.argv[7]), on: c.argv[8],
		server: c.identify(), last: c.count("last"), own: c.count("token"),
		till: c.count("until"), fresh: c.count("fresh_until"), guard: c.count("guard_until"),
		seen: c.field("guard_id"), arms: c.count("arms"), heir: c.field("heir"), first: c.count("heir_until"),
	}
	a.value, a.held = c.Get(c.lease)
	a.mine = a.held && a.value == c.argv[0]
	if a.server.run == "" || !a.server.timed {
		a.notes = "hidden"
	}
	a.length = max(a.longest, c.span(c.fieldOr("ttl", "0"))) // R2
	a.known = c.field("until") != "" || c.field("fresh_until") != ""
	a.late = !a.held && a.limit > 0 && c.now > a.limit
	if a.ttl == 0 || a.retention == 0 { // SET refuses it, and the record would vanish
		c.odd = true
	}
	return a
}

// arm arms the guards of R6 and R4, before anything is refused.
func (a *acquisition) arm() {
	now, length, id := a.now, a.length, a.server.id
	armed := max(a.fresh, a.guard) > now+length // the clock went back: it is cut once
	a.fresh, a.guard = min(a.fresh, now+length), min(a.guard, now+length)
	if a.mine {
		a.on = "" // only its record was lost
	}
	switch {
	case !a.known && !a.late && a.argv[9] != "1" && a.has("n"): // R6
		// rare: no-record-guard-armed
		a.fresh, a.guard, a.arms, a.seen, armed = now+length, now+length, 1, id, true
	case a.known && id != "" && a.field("run_id") != id && a.has("f"): // R4
		quiet := a.guard > 0 && a.guard+length < now
		switch {
		case a.seen == id:
			if a.arms > 1 && a.guard <= now {
				// rare: arms-counted-from-one-again
				a.arms, armed = 1, true // it stayed the same for a whole guard: no restless one
			}
		case a.arms < 3, quiet:
			// rare: failover-guard-armed
			if quiet {
				a.arms = 0 // no other one was seen for a whole guard after the last: no restless one
			}
			a.guard, a.arms, a.seen, armed = now+length, a.arms+1, id, true
		default:
			a.guard, a.arms, a.seen, armed = 0, 4, id, true // another one each time: it stands down
			a.notes = "restless"
		}
	}
	if armed {
		a.set("fresh_until", text(a.fresh), "guard_id", a.seen, "guard_until", text(a.guard), "arms", text(a.arms))
		a.PExpire(a.record, a.retention)
	}
}

// has reports whether a guard is on.
func (a *acquisition) has(guard string) bool { return strings.Contains(a.on, guard) }

// cut cuts, once, a lease that runs further ahead than any can: the clock went
// back (R7).
func (a *acquisition) cut() bool {
	if !a.has("e") || a.till <= a.now+a.length {
		return false
	}
	// rare: until-cut
	a.till = a.now + a.length
	a.set("until", text(a.till))
	return true
}

// refuse answers that somebody else holds the lease.
func (a *acquisition) refuse(cut bool) Reply {
	left := a.PTTL(a.lease)
	if cut && left > a.length {
		// rare: lease-cut
		a.PExpire(a.lease, a.length)
		left = a.length
	}
	return Reply{
		"held", a.now, text(a.last), a.value, left, a.field("holder"), text(a.own), a.fieldOr("ttl", "0"), a.server.run, a.notes,
	}
}

// guarded is how long guards still refuse, and which do.
func (a *acquisition) guarded() (wait int64, why string) {
	if a.till > a.now && a.has("e") { // R7
		// rare: early-expiry-guard
		wait, why = max(wait, a.till-a.now), why+"e"
	}
	if a.fresh > a.now && a.has("n") {
		wait, why = max(wait, a.fresh-a.now), why+"n"
	}
	if a.guard > a.now && a.has("f") {
		wait, why = max(wait, a.guard-a.now), why+"f"
	}
	run := a.server.run
	if a.server.timed && a.has("r") && (run == "" || a.field("init") != run) { // R3
		if young := a.length + 1000 - a.server.up*1000; young > 0 {
			// rare: restart-guard
			wait, why = max(wait, young), why+"r"
		}
	}
	if a.first > a.now+a.length {
		a.first = a.now + a.length // asked for too long, or the clock went back: it is cut once
		a.set("heir_until", text(a.first))
	}
	if a.first > a.now && !a.mine && a.heir != "" && a.heir != a.argv[10] {
		wait, why = max(wait, a.first-a.now), why+"h"
	}
	return wait, why
}

// grant gives the lease away.
func (a *acquisition) grant(token int64) Reply {
	s, argv := text(token), a.argv
	a.Set(a.lease, argv[0], a.ttl)
	// A vote raises 'last' only when it is sealed (R12).
	if argv[5] != "1" {
		a.set("last", s)
	}
	// Only a grant says which server the record belongs to (R5), and ends its guards.
	a.set("value", argv[0], "token", s, "vote", argv[5],
		"until", text(max(a.till, a.now+a.ttl)), "holder", argv[3], "ttl", argv[1],
		"run_id", a.server.id, "fresh_until", "0", "guard_id", "", "guard_until", "0", "arms", "0",
		"ask", "", "asked", "", "heir", "", "heir_until", "0")
	a.PExpire(a.record, a.retention)
	return Reply{"granted", a.now, s, "", int64(0), "", "0", "0", a.server.run, a.notes}
}
