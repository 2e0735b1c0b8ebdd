package native

// ask leaves a request to hand over with the lease of the term that it names. argv:
// token, request, id of the heir, ms for which it goes first.
func ask(c *call) Reply {
	last := c.fieldOr("last", "0")
	lease, held := c.Get(c.lease)
	if !held {
		return Reply{"free", c.now, last}
	}
	// A record that has this token is there, and expires: none is begun here.
	status := "other"
	if c.field("token") == c.argv[0] && c.HExists(c.record, "token") {
		status = "asked"
		c.set("ask", c.argv[1], "asked", c.argv[0], "heir", c.argv[2], "heir_ms", c.argv[3])
	}
	return c.taken(status, last, lease)
}
