package simnet

import (
	"bytes"
	"errors"
	"strconv"
)

var errProtocol = errors.New("simnet: not a Redis command")

// parseCommand takes the first command from b: an array of bulk strings. It
// returns its length, which is 0 if there is not yet a whole one.
func parseCommand(b []byte) (args []string, n int, err error) {
	count, n, err := parseNumber(b, '*')
	if n == 0 || err != nil {
		return nil, 0, err
	}
	args = make([]string, 0, min(max(count, 0), 64))
	for range count {
		size, m, err := parseNumber(b[n:], '$')
		if m == 0 || err != nil {
			return nil, 0, err
		}
		if size < 0 {
			return nil, 0, errProtocol
		}
		n += m
		if len(b) < n+size+2 {
			return nil, 0, nil
		}
		args = append(args, string(b[n:n+size]))
		n += size + 2
	}
	return args, n, nil
}

// parseNumber takes a line with a number from b, which begins with that mark.
func parseNumber(b []byte, mark byte) (v, n int, err error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return 0, 0, nil
	}
	if end < 2 || b[0] != mark || b[end-1] != '\r' {
		return 0, 0, errProtocol
	}
	v, err = strconv.Atoi(string(b[1 : end-1]))
	if err != nil || v > 1<<20 {
		return 0, 0, errProtocol
	}
	return v, end + 1, nil
}
