package blackhole

import (
	"bytes"
	"strconv"
)

// A commandCounter counts the commands of Redis in a stream of requests, in whatever
// pieces it comes: arrays of bulk strings, or lines as people type them. What is no such
// stream counts as anything.
type commandCounter struct {
	line []byte // of a header, so far
	left int    // bulk strings of the command that are to come
	skip int    // bytes of the present one
}

// maxHeader is more than the header of an array or of a string has.
const maxHeader = 64

// feed returns how many commands begin in the next piece.
func (c *commandCounter) feed(data []byte) (n int) {
	for len(data) > 0 {
		if c.skip > 0 {
			k := min(c.skip, len(data))
			data, c.skip = data[k:], c.skip-k
			continue
		}
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			c.line = append(c.line, data[:min(len(data), max(0, maxHeader-len(c.line)))]...)
			return n
		}
		if c.header(append(c.line, data[:i]...)) {
			n++
		}
		c.line, data = c.line[:0], data[i+1:]
	}
	return n
}

// header handles a line, and reports whether a command begins with it.
func (c *commandCounter) header(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if c.left > 0 {
		c.left--
		if size, err := strconv.Atoi(string(line[min(1, len(line)):])); err == nil && size >= 0 {
			c.skip = size + len("\r\n")
		}
		return false
	}
	if len(line) > 0 && line[0] == '*' {
		c.left, _ = strconv.Atoi(string(line[1:])) // what cannot be read has nothing to follow
	}
	return len(line) > 0
}
