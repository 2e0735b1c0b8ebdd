package config

import (
	"strconv"
	"strings"
)

// A FieldError is one problem of a configuration. Load, LoadFrom, Validate and
// Open join all that they find (errors.Join); find one with errors.As.
type FieldError struct {
	// Field is the key, such as tls.ca_file or quorum.masters[2].address.
	Field string
	// Value is what was given: "" where there is none, where it could be a
	// secret, or where it could not be shown safely.
	Value string
	// Where is the place: a line of the file, a variable, a flag; "" if the
	// value was set in code.
	Where string
	// Rule is what is wanted instead.
	Rule string
}

// Error gives field, value, place and rule in one line.
func (e *FieldError) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	if e.Value != "" {
		b.WriteString(" " + strconv.Quote(e.Value))
	}
	if e.Where != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("(" + e.Where + ")")
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Rule)
	return b.String()
}

const maxShown = 64

// show is as much of a value as may stand in an error. It ends before anything
// that no value of ours needs, since what follows may belong to another line,
// and drops what looks like the password of a URL.
func show(s string) string {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		return hidden + show(s[i:][1:])
	}
	end := strings.IndexFunc(s, func(r rune) bool {
		return !isWord(r) && !strings.ContainsRune(":/,+[]%=~\\*µ", r)
	})
	return cut(s, end)
}

// showName is as much of an unknown name as may stand in an error: a password
// after a missing space ("password:x", "password=x") is no part of it.
func showName(s string) string {
	return cut(s, strings.IndexFunc(s, func(r rune) bool { return !isWord(r) }))
}

func cut(s string, end int) string {
	if end < 0 || end > maxShown {
		end = min(len(s), maxShown)
	}
	if end < len(s) {
		return strings.ToValidUTF8(s[:end], "") + "…"
	}
	return s
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r)
}
