package native

// release gives the lease back where it is ours, and wakes standbys. argv: value,
// token, channel.
func release(c *call) Reply {
	lease, held := c.Get(c.lease)
	if held && lease != c.argv[0] {
		return c.taken("taken", c.fieldOr("last", "0"), lease)
	}
	reserve := c.span(c.fieldOr("heir_ms", "0"))
	if c.odd {
		return nil
	}
	if held {
		c.Del(c.lease)
	} else if !c.granted(c.argv[0]) {
		// rare: release-finds-nothing
		return Reply{"expired", c.now, "0"}
	}
	// Here the value is that of the last grant: with its owner's word nobody can believe
	// in that any more, even if the lease was lost before its time (R7). A record that
	// was lost is not begun anew: it would have no expiry.
	if c.HExists(c.record, "token") {
		c.set("until", "0")
		if c.argv[1] != "0" {
			c.set("released", c.argv[1])
		}
		// Whoever was asked for goes first for a while, once: see acquire.
		if heir := c.field("heir"); heir != "" && c.field("asked") == c.argv[1] && c.HExists(c.record, "asked") {
			c.set("asked", "", "heir_until", text(c.now+reserve))
		}
	}
	heard := int64(c.Publish(c.argv[2], c.argv[0]))
	if !held {
		// rare: lost-lease-given-back
		return Reply{"expired", c.now, "0"}
	}
	return Reply{"released", c.now, heard}
}

// granted reports whether the last grant had that value.
func (c *call) granted(value string) bool {
	return c.field("value") == value && (value != "" || c.HExists(c.record, "value"))
}
