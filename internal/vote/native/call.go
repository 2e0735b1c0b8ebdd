package native

import (
	"strconv"
	"strings"
)

// A call is one run of a script. What is not as this library writes it makes it
// odd; a script looks at that once it has read all numbers, and before it writes.
type call struct {
	Server
	lease, record string // keys
	argv          []string
	now           int64
	odd           bool
}

// top is the largest integer up to which a number of Lua has no gaps, and the
// largest token.
const top = 1<<53 - 1

// longest is the longest duration, in milliseconds, that is not odd.
const longest = 1e12

// number reads an integer as Lua's tonumber does.
func (c *call) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > top || text[0] == '+' || text[0] == '-' || text[0] == '0' && len(text) > 1 {
		c.odd = true
		return 0
	}
	return n
}

// span is number for a duration.
func (c *call) span(text string) int64 {
	n := c.number(text)
	if n > longest {
		c.odd = true
	}
	return n
}

// field returns a field of the record; "" if there is none.
func (c *call) field(name string) string { return c.HGet(c.record, name) }

// fieldOr returns a field of the record; other if there is none.
func (c *call) fieldOr(name, other string) string {
	v := c.field(name)
	if v == "" && !c.HExists(c.record, name) {
		return other
	}
	return v
}

// count is a field of the record that is an integer; 0 if there is none.
func (c *call) count(name string) int64 { return c.number(c.fieldOr(name, "0")) }

// set sets fields of the record.
func (c *call) set(pairs ...string) { c.HSet(c.record, pairs...) }

// taken is the answer to a call that met the lease of somebody else.
func (c *call) taken(status, last, lease string) Reply {
	return Reply{
		status, c.now, last, lease, c.PTTL(c.lease),
		c.field("holder"), c.fieldOr("token", "0"), c.fieldOr("ttl", "0"),
	}
}

// identity is who the server is, as its INFO says.
type identity struct {
	run   string // its process; "" if it is hidden
	id    string // that and the line of replication that it was promoted from
	up    int64  // seconds
	timed bool   // it tells for how long it has been up
}

// identify reads INFO.
func (c *call) identify() identity {
	info := c.Info()
	var i identity
	if i.run = word(info, "run_id:", letterOrDigit); i.run != "" {
		i.id = i.run + "-" + word(info, "master_replid2:", letterOrDigit)
	}
	if up := word(info, "uptime_in_seconds:", digit); up != "" {
		i.up, i.timed = c.span(up), true
	}
	return i
}

// word is the first one behind a label, as string.match(text, label .. '(%w+)')
// finds it; "" if there is none.
func word(text, label string, in func(byte) bool) string {
	for {
		_, rest, found := strings.Cut(text, label)
		if !found {
			return ""
		}
		n := 0
		for n < len(rest) && in(rest[n]) {
			n++
		}
		if n > 0 {
			return rest[:n]
		}
		text = rest
	}
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func letterOrDigit(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }

func text(n int64) string { return strconv.FormatInt(n, 10) }
