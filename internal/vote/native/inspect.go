package native

// inspect reads all that is stored.
func inspect(c *call) Reply {
	lease, _ := c.Get(c.lease)
	return Reply{
		"state", c.now, c.field("last"), lease, c.PTTL(c.lease), c.field("holder"), c.field("token"), c.field("ttl"),
		c.field("until"), c.field("released"), c.field("run_id"), c.field("guard_until"), c.field("arms"),
		c.field("fresh_until"), c.field("init"), c.field("guard_id"), c.field("heir"), c.field("heir_until"),
	}
}
