package benchfile

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
)

// source is what a benchfmt.Reader reads: of a file the lines that are results and
// settings, one a call of Read. So the line that was handed over last is the one that
// the reader returns next, and the place of a result is known.
type source struct {
	file  string
	lines *lines
	units Units
	info  Info
	looks looks

	plain   stream
	streams map[string]*stream // output of go test -json, by package
	pkg     string             // the package that was announced last in it

	queue  []byte // lines to hand over
	handed int    // so many bytes of queue were
	at     int    // the line that it came from
	atCut  bool   // which is the last, and has no end
	indent int    // of the first line that was understood
	result int    // results handed over
	err    error
}

// stream is the output of one test program.
type stream struct {
	partial []byte // a line that is not whole yet
	name    []byte // a benchmark that was announced and has no figures yet
	open    int    // results since the last PASS or ok
	body    bool   // a result was seen since the last header
}

// maxStreams bounds how many packages of go test -json may be told apart.
const maxStreams = 4096

func newSource(r io.Reader, file string) (*source, error) {
	text, encoding, err := decode(r, file)
	if err != nil {
		return nil, err
	}
	s := &source{file: file, lines: newLines(text), streams: map[string]*stream{}, indent: -1}
	s.info.Name, s.info.Encoding = file, encoding
	return s, nil
}

// Read hands over the next line that counts.
func (s *source) Read(p []byte) (int, error) {
	for s.handed == len(s.queue) {
		s.queue, s.handed = s.queue[:0], 0
		if s.err != nil {
			return 0, s.err
		}
		line, ok := s.lines.next()
		if !ok {
			s.end()
			continue
		}
		s.at, s.atCut = s.lines.n, s.lines.cut
		s.raw(line)
	}
	n := copy(p, s.queue[s.handed:])
	s.handed += n
	return n, nil
}

// end is called when the file has been read.
func (s *source) end() {
	s.err = io.EOF
	if err := s.lines.s.Err(); err != nil {
		s.err = err
	}
	s.info.Lines = s.lines.n
	s.info.Cut = s.lines.cut
	open := s.plain.open
	for _, st := range s.streams {
		open += st.open
	}
	s.info.open(open)
}

// raw takes a line as it stands in the file.
func (s *source) raw(line []byte) {
	line, indent := clean(line)
	if len(line) == 0 {
		return
	}
	s.looks.see(line)
	if bytes.IndexByte(line, 0) >= 0 {
		if bytes.Contains(bytes.ReplaceAll(line, []byte{0}, nil), benchmark) {
			s.err = mixed(s.file, UTF8)
		}
		return
	}
	if s.lines.tooBig {
		if bytes.HasPrefix(line, benchmark) {
			s.info.malformed(s.at, "the line is too long")
		}
		return
	}
	if line[0] == '{' && s.event(line) {
		s.info.JSON = true
		s.atCut = false // an object that can be read is whole
		return
	}
	s.line(&s.plain, line, indent)
}

// event takes a line of go test -json, and reports whether it was one.
func (s *source) event(line []byte) bool {
	var e struct{ Action, Package, Output string }
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		return false
	}
	if e.Action != "output" {
		return true
	}
	st := s.streams[e.Package]
	if st == nil {
		if len(s.streams) >= maxStreams {
			return true
		}
		st = &stream{}
		s.streams[e.Package] = st
	}
	// A benchmark's name and its figures are two events.
	st.partial = append(st.partial, e.Output...)
	if len(st.partial) > maxLine {
		st.partial = st.partial[:maxLine]
	}
	if end := bytes.LastIndexByte(st.partial, '\n'); end >= 0 {
		for text := range bytes.Lines(st.partial[:end]) {
			s.output(st, e.Package, text)
		}
		st.partial = append(st.partial[:0], st.partial[end+1:]...)
	}
	return true
}

// output takes a line that a package wrote.
func (s *source) output(st *stream, pkg string, text []byte) {
	line, indent := clean(bytes.TrimRight(text, "\r\n"))
	if len(line) == 0 {
		return
	}
	s.looks.see(line)
	before := len(s.queue)
	s.line(st, line, indent)
	if len(s.queue) > before && bytes.HasPrefix(s.queue[before:], benchmark) && s.pkg != pkg {
		s.pkg = pkg
		s.queue = slices.Insert(s.queue, before, []byte("pkg: "+pkg+"\n")...)
	}
}

// line takes a line of text.
func (s *source) line(st *stream, line []byte, indent int) {
	switch {
	case bytes.HasPrefix(line, benchmark):
		s.benchmark(st, line, indent)
	case line[0] >= '0' && line[0] <= '9' && st.name != nil && isMeasured(line):
		s.add(st, slices.Concat(st.name, []byte{' '}, line), indent)
	case line[0] == 'U' && isUnitLine(line):
		if err := s.units.add(line, place{s.file, s.at}); err != nil {
			s.err = err
		}
	case line[0] == 'P' && string(line) == "PASS", bytes.HasPrefix(line, []byte("ok  ")):
		st.close()
	case line[0] == 'F' && (string(line) == "FAIL" || bytes.HasPrefix(line, []byte("FAIL\t"))):
		st.close()
		s.info.Failed = true
	default:
		if key, value, ok := setting(line); ok {
			s.setting(st, key, value, indent)
		} else {
			s.noise(line)
		}
	}
}

func (st *stream) close() { *st = stream{partial: st.partial} }

// benchmark takes a line that begins as a result does.
func (s *source) benchmark(st *stream, line []byte, indent int) {
	name, rest := field(line)
	if count, _ := field(rest); isCount(count) {
		s.add(st, line, indent)
		return
	}
	s.noise(line)
	if len(name) == len(benchmark) || name[len(benchmark)] < 'a' || name[len(benchmark)] > 'z' {
		st.name, st.body = bytes.Clone(name), true // its figures may follow, behind what it prints
	}
}

// add hands over a result.
func (s *source) add(st *stream, line []byte, indent int) {
	st.name, st.body = nil, true
	st.open++
	s.understood(indent)
	s.result++
	s.emit(line)
}

// setting hands over a setting, if it stands where one can stand: not indented more
// than the rest, and the free text of cpu only above the results.
func (s *source) setting(st *stream, key string, value []byte, indent int) {
	if s.indent >= 0 && indent != s.indent || key == "cpu" && st.body {
		return
	}
	s.understood(indent)
	if slices.Contains(headers, key) {
		if st.open > 0 && key != "lab" {
			s.info.open(st.open)
			st.open = 0
		}
		st.body = false
	}
	switch key {
	case "lab":
		s.info.Harness = true
		for _, usual := range conditions { // those of a file that came before
			s.emit([]byte(usual), []byte(":"))
		}
	case "pkg":
		s.pkg = string(value)
	}
	s.emit([]byte(key), []byte(": "), value)
}

func (s *source) understood(indent int) {
	if s.indent < 0 {
		s.indent = indent
	}
}

// emit adds a line to the queue.
func (s *source) emit(parts ...[]byte) {
	for _, p := range parts {
		s.queue = append(s.queue, p...)
	}
	s.queue = append(s.queue, '\n')
}

// noise looks at a line that is left out, for a result that is lost with it.
func (s *source) noise(line []byte) {
	if bytes.Contains(line, benchmark) && hidden(line) || bytes.HasPrefix(line, benchmark) && bytes.Contains(line, perOp) {
		s.info.hidden(s.at)
	}
}
