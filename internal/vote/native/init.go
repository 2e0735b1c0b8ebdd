package native

// initialize says that nobody can be leading, so that the first election need not
// wait for guards (R6). argv: retention ms.
func initialize(c *call) Reply {
	last, retention := c.fieldOr("last", "0"), c.span(c.argv[0])
	if c.odd {
		return nil
	}
	if lease, held := c.Get(c.lease); held {
		return c.taken("held", last, lease)
	}
	server := c.identify()
	if c.odd {
		return nil
	}
	c.set("until", "0", "run_id", server.id, "init", server.run, "fresh_until", "0", "guard_id", "", "guard_until", "0", "arms", "0",
		"heir_until", "0")
	c.PExpire(c.record, retention)
	return Reply{"ready", c.now, last}
}
