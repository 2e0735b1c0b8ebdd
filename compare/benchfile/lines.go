package benchfile

import (
	"bufio"
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"
)

// maxLine is how long a line may be. No benchmark prints such a one; what is longer
// is cut, so that a file without line ends does not fill the memory.
const maxLine = 32 << 10

// lines reads lines that end in LF, CRLF or CR.
type lines struct {
	s      *bufio.Scanner
	skipLF bool   // the last line ended in CR: a LF that follows belongs to it
	long   []byte // the beginning of a line that is too long, until its end is found
	n      int    // lines read
	cut    bool   // the file ended without the end of this line
	tooBig bool   // this line was too long, and only its beginning is here
}

func newLines(r io.Reader) *lines {
	l := &lines{s: bufio.NewScanner(r)}
	l.s.Buffer(make([]byte, 0, maxLine), 4*maxLine)
	l.s.Split(l.split)
	return l
}

// next returns the next line, until the one after it is read.
func (l *lines) next() ([]byte, bool) {
	if !l.s.Scan() {
		return nil, false
	}
	l.n++
	return l.s.Bytes(), true
}

// split is a bufio.SplitFunc.
func (l *lines) split(data []byte, atEOF bool) (int, []byte, error) {
	skip := 0
	if l.skipLF && len(data) > 0 {
		l.skipLF = false
		if data[0] == '\n' {
			skip, data = 1, data[1:]
		}
	}
	switch i := endOfLine(data); {
	case i >= 0 && data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return skip + i + 2, l.whole(data[:i]), nil
	case i >= 0:
		l.skipLF = data[i] == '\r'
		return skip + i + 1, l.whole(data[:i]), nil
	case atEOF && (len(data) > 0 || l.long != nil):
		l.cut = true
		return skip + len(data), l.whole(data), nil
	case len(data) >= maxLine:
		if l.long == nil {
			l.long = bytes.Clone(data[:maxLine])
		}
		return skip + len(data), nil, nil
	}
	return skip, nil, nil
}

// endOfLine is where the first line of data ends, or -1. One pass for both ends: a
// search for each would read the whole buffer for every line of a file with CR only.
func endOfLine(data []byte) int {
	for i, c := range data {
		if c == '\n' || c == '\r' {
			return i
		}
	}
	return -1
}

// whole returns a line of which this is the end.
func (l *lines) whole(end []byte) []byte {
	line := l.long
	if l.tooBig = line != nil; !l.tooBig {
		return end
	}
	l.long = nil
	return line
}

var byteOrderMark = []byte("\ufeff")

// clean removes what is not text of a line: colours, marks, and the space around it.
// It returns how much space was before it.
func clean(line []byte) (text []byte, indent int) {
	for bytes.HasPrefix(line, byteOrderMark) { // files that were joined have it in the middle
		line = line[len(byteOrderMark):]
	}
	if bytes.IndexByte(line, escape) >= 0 {
		line = withoutEscapes(line)
	}
	if len(line) > 0 && line[0] > ' ' && line[0] < utf8.RuneSelf {
		return bytes.TrimRight(line, " \t"), 0
	}
	text = bytes.TrimLeftFunc(line, unicode.IsSpace)
	return bytes.TrimRight(text, " \t"), len(line) - len(text)
}

const escape = 0x1b

// withoutEscapes returns line without terminal control sequences.
func withoutEscapes(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		if line[i] == escape {
			i += sequence(line[i:])
			continue
		}
		out = append(out, line[i])
		i++
	}
	return out
}

// sequence is the length of the control sequence that s begins with: ESC [ ... letter,
// ESC ] ... BEL or ESC \, or ESC and one more.
func sequence(s []byte) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				return i + 1
			}
			if s[i] == escape {
				return min(i+2, len(s))
			}
		}
	default:
		return 2
	}
	return len(s)
}
