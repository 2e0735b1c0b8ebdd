package bench

import (
	"bytes"
	"strconv"
	"strings"
)

// requests finds the names of commands in what a client writes: arrays of bulk strings,
// in pieces of any length. What is not such a request is skipped up to the next line.
type requests struct {
	line   []byte // the beginning of a line that is not whole yet
	args   int    // elements that the present request still has
	named  bool   // its name was found
	bulk   int    // bytes of the present element that are still to come, its end included
	name   []byte // of the request, as far as it was read
	inBulk bool
}

const (
	maxName   = 64      // no command's name is longer
	maxHeader = 32      // "*" or "$" and a number
	maxArgs   = 1 << 20 // as servers allow
	maxBulk   = 512 << 20
)

// read takes the next piece, and calls found with the name of each request whose name
// is whole by then.
func (r *requests) read(p []byte, found func(name string)) {
	for len(p) > 0 {
		if r.inBulk {
			p = p[r.element(p, found):]
			continue
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			r.keep(p)
			return
		}
		r.keep(p[:i])
		p = p[i+1:]
		r.header(strings.TrimSuffix(string(r.line), "\r"))
		r.line = r.line[:0]
	}
}

// keep adds to the line, which no header fills.
func (r *requests) keep(p []byte) {
	r.line = append(r.line, p[:min(len(p), maxHeader-len(r.line))]...)
}

// header takes a line that says how many elements or bytes follow.
func (r *requests) header(line string) {
	if len(line) < 2 {
		return
	}
	n, err := strconv.Atoi(line[1:])
	switch {
	case err != nil || n < 0:
		r.args = 0
	case line[0] == '*' && n <= maxArgs:
		r.args, r.named, r.name = n, false, r.name[:0]
	case line[0] == '$' && r.args > 0 && n <= maxBulk:
		r.args--
		r.inBulk, r.bulk = true, n+len("\r\n")
	default:
		r.args = 0
	}
}

// element takes bytes of an element, and returns how many.
func (r *requests) element(p []byte, found func(name string)) int {
	n := min(len(p), r.bulk)
	if !r.named {
		r.name = append(r.name, p[:min(n, maxName+len("\r\n")-len(r.name))]...)
	}
	if r.bulk -= n; r.bulk == 0 {
		r.inBulk = false
		if !r.named {
			r.named = true
			found(strings.ToLower(strings.TrimSuffix(string(r.name), "\r\n")))
		}
	}
	return n
}
