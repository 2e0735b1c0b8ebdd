package native

// renew lengthens the lease where it is ours. argv: value, ttl ms, token, retention ms.
func renew(c *call) Reply {
	lease, held := c.Get(c.lease)
	last, until, ask := c.count("last"), c.count("until"), c.field("ask")
	ttl, token, retention := c.span(c.argv[1]), c.number(c.argv[2]), c.span(c.argv[3])
	if c.odd {
		return nil
	}
	raised := text(max(last, token))
	if held && lease == c.argv[0] {
		c.PExpire(c.lease, ttl)
		c.set("last", raised, "token", c.argv[2], "vote", "", "until", text(max(until, c.now+ttl)))
		c.PExpire(c.record, retention)
		return Reply{"renewed", c.now, int64(0), ask}
	}
	// A master that missed the seal learns the token, whoever holds its lease:
	// raising a record can only make later tokens larger.
	if token > last {
		// rare: token-learnt-by-a-renewal
		c.set("last", c.argv[2])
		c.PExpire(c.record, retention)
	}
	if !held {
		return Reply{"expired", c.now, raised}
	}
	return c.taken("taken", raised, lease)
}
