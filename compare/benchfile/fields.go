package benchfile

import (
	"bytes"
	"strconv"
)

var (
	benchmark = []byte("Benchmark")
	perOp     = []byte("/op")
)

// field cuts the first word off line.
func field(line []byte) (word, rest []byte) {
	line = bytes.TrimLeft(line, " \t")
	i := bytes.IndexAny(line, " \t")
	if i < 0 {
		return line, nil
	}
	return line[:i], line[i+1:]
}

// isCount reports whether word is a number of iterations.
func isCount(word []byte) bool {
	for _, c := range word {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(word) > 0 && len(word) <= 18
}

// isMeasured reports whether line is what follows the name in a result: a count,
// then values each with its unit.
func isMeasured(line []byte) bool {
	word, line := field(line)
	if !isCount(word) {
		return false
	}
	for n := 0; ; n++ {
		if word, line = field(line); len(word) == 0 {
			return n > 0
		}
		if _, err := strconv.ParseFloat(string(word), 64); err != nil {
			return false
		}
		if word, line = field(line); len(word) == 0 {
			return false
		}
	}
}

// hidden reports whether a result stands in line behind other text.
func hidden(line []byte) bool {
	for i := bytes.Index(line, benchmark); i >= 0; {
		if _, rest := field(line[i:]); isMeasured(rest) {
			return i > 0
		}
		next := bytes.Index(line[i+1:], benchmark)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}
