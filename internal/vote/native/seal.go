package native

// seal writes a quorum's token where the lease is ours (R11). It refreshes nothing.
// argv: value, token, retention ms.
func seal(c *call) Reply {
	lease, _ := c.Get(c.lease)
	last, own, token, retention := c.count("last"), c.count("token"), c.number(c.argv[1]), c.span(c.argv[2])
	if c.odd || c.argv[0] == "" {
		return nil
	}
	if lease != c.argv[0] {
		// rare: seal-finds-no-vote
		return Reply{"lost", c.now, text(last), lease, int64(0), c.field("holder"), text(own), c.fieldOr("ttl", "0")}
	}
	if c.field("vote") != "1" && own == token {
		// rare: seal-repeated
		return Reply{"sealed", c.now} // the same seal, sent again
	}
	// Somebody raised the record since our vote to a token that is not below ours:
	// leading with ours would repeat or undercut it.
	if last >= token {
		return Reply{"regressed", c.now, text(last)}
	}
	lost := c.field("token") == "" // the record, since our vote
	c.set("last", c.argv[1], "token", c.argv[1], "vote", "")
	if lost {
		c.PExpire(c.record, retention)
	}
	return Reply{"sealed", c.now}
}
