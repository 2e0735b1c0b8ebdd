package benchfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// looks remembers what the first lines of a file look like, to say so when there is
// no result in it.
type looks struct {
	lines    int
	testing  bool // lines of go test
	announce int  // lines with only the name of a benchmark
	nameless int  // line of a result whose name lacks the prefix
	json     bool
	html     bool
	binary   bool
}

// looked is how many lines are looked at.
const looked = 10_000

func (l *looks) see(line []byte) {
	if l.lines++; l.lines > looked {
		return
	}
	word, rest := field(line)
	switch {
	case bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line):
		l.binary = true
	case string(line) == "PASS", string(word) == "ok", string(word) == "===", string(word) == "---", string(word) == "goos:":
		l.testing = true
	case bytes.HasPrefix(word, benchmark) && len(bytes.TrimSpace(rest)) == 0:
		l.announce++
	case l.nameless == 0 && isMeasured(rest):
		l.nameless = l.lines
	case line[0] == '{' || line[0] == '[':
		l.json = l.json || json.Valid(line) || len(line) == 1
	case l.lines == 1 && line[0] == '<':
		l.html = true
	}
}

// what says it.
func (l *looks) what(i *Info) string {
	switch {
	case l.lines == 0:
		return "an empty file"
	case i.Hidden > 0:
		return fmt.Sprintf("benchmark output behind other text on each line, as timestamps or a quote mark (line %d): remove that", i.firstHidden)
	case i.Malformed > 0:
		return fmt.Sprintf("benchmark output that cannot be read (line %d: %s)", i.firstMalformed, i.whyMalformed)
	case l.nameless > 0:
		return fmt.Sprintf("results whose names lack the prefix Benchmark (text line %d)", l.nameless)
	case i.JSON:
		return "output of go test -json without benchmarks: run it with -bench"
	case l.announce > 0:
		return "output of go test -v in which no benchmark ended"
	case l.testing:
		return "output of go test without benchmarks: run it with -bench"
	case l.html:
		return "HTML or XML"
	case l.json:
		return "JSON that is not from go test -json"
	case l.binary:
		return "binary data, or text in an unknown encoding"
	}
	return "other text"
}
