package native

// reseat gives a leader back the vote of a master that lost it (R12). argv: value,
// ttl ms, token, holder, retention ms, limit, max ttl ms.
func reseat(c *call) Reply {
	last, until, fresh := c.count("last"), c.field("until"), c.field("fresh_until")
	till := c.count("until")
	ttl, token, retention := c.span(c.argv[1]), c.number(c.argv[2]), c.span(c.argv[4])
	limit, longest := c.number(c.argv[5]), c.span(c.argv[6])
	if fresh == "" && c.HExists(c.record, "fresh_until") || ttl == 0 {
		c.odd = true
	}
	if c.odd {
		return nil
	}
	if limit > 0 && c.now > limit {
		// rare: re-seat-handled-late
		return Reply{"late", c.now} // the term may be over by now
	}
	if last > token {
		// rare: re-seat-below-a-later-token
		return Reply{"regressed", c.now, text(last)}
	}
	if lease, held := c.Get(c.lease); held {
		// rare: re-seat-finds-a-lease
		return Reply{"taken", c.now, text(last), lease, c.PTTL(c.lease), "", "0", "0"}
	}
	c.Set(c.lease, c.argv[0], ttl)
	// run_id stays as it is: only a grant sets it (R5). Onto no record the guard is
	// armed: what else was lost with it nobody knows (R6).
	if until == "" && fresh == "" {
		// rare: re-seat-onto-no-record
		length := text(c.now + longest)
		c.set("fresh_until", length, "guard_until", length, "arms", "1")
	}
	c.set("value", c.argv[0], "last", c.argv[2], "token", c.argv[2], "vote", "",
		"until", text(max(till, c.now+ttl)), "holder", c.argv[3], "ttl", c.argv[1])
	c.PExpire(c.record, retention)
	return Reply{"reseated", c.now}
}
