package redisproc

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// logTail bounds how much of a log is read back.
const logTail = 64 << 10

// maxLog bounds what a server may print before it is ready.
const maxLog = 16 << 20

var errTalks = errors.New("it prints without end, as no server does")

// talksTooMuch is errTalks for a program that does.
func (s *Server) talksTooMuch(from int64) error {
	fi, err := os.Stat(filepath.Join(s.dir, logName))
	if err == nil && fi.Size()-from > maxLog {
		return errTalks
	}
	return nil // who reads it says what is wrong
}

// readLog returns the end of the log file, not reaching back before offset from.
func (s *Server) readLog(from int64) string {
	f, err := os.Open(filepath.Join(s.dir, logName))
	if err != nil {
		return ""
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil {
		from = max(from, fi.Size()-logTail)
	}
	b, err := io.ReadAll(io.NewSectionReader(f, from, logTail))
	if err != nil {
		return ""
	}
	return s.redact(string(b))
}

// redact removes secrets: a server quotes the configuration line it dislikes.
func (s *Server) redact(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// secrets lists what must never reach a log or an error, longest first so that
// none is hidden by a shorter one inside it.
func (o *Options) secrets(acl string) []string {
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s, quote(s))
		}
	}
	add(o.Password)
	for pair := range slices.Chunk(o.Args, 2) {
		if n := strings.ToLower(pair[0]); strings.Contains(n, "pass") || n == "masterauth" {
			add(strings.Trim(pair[1], `"'`))
		}
	}
	for _, word := range strings.Fields(acl) {
		if strings.ContainsAny(word[:1], "><#!") {
			add(word[1:])
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// lastLines returns the last n lines of text that are not blank.
func lastLines(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):]
}
