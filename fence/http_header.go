package fence

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"incumbent/election"
)

// Header names the HTTP header that carries fencing tokens, in requests as in
// refusals: a list of <election>=<token>, over one or several lines, separated by
// commas:
//
//	Incumbent-Token: bridge-health=1712345678901, sync%2Feu=7
//
// In the election's name every byte but letters, digits and "-._~" is written
// as % and two hex digits; the token is decimal, from 1 to 2^53 - 1, without sign
// or leading zeros.
const Header = "Incumbent-Token"

// maxHeader bounds what is read of it, over all lines.
const maxHeader = 8 << 10

// What can be wrong with a header. The errors say where, and never repeat what
// was received.
var (
	// ErrMalformedHeader: an entry cannot be read, or two name one election with
	// different tokens.
	ErrMalformedHeader = errors.New("malformed " + Header + " header")
	// ErrLargeHeader: the header is longer than 8 KiB in all.
	ErrLargeHeader = errors.New(Header + " header is too large")
)

// FormatToken writes an entry of the header.
func FormatToken(electionName string, t election.Token) string {
	return fmt.Sprintf("%s=%d", escapeName(electionName), uint64(t))
}

// ParseTokens reads all entries of the header, by election. Without any the map
// is empty. The error matches ErrMalformedHeader or ErrLargeHeader; nothing is
// then returned, since half of a header might be the wrong half.
func ParseTokens(h http.Header) (map[string]election.Token, error) {
	lines := h.Values(Header)
	size := 0
	for _, line := range lines {
		if size += len(line); size > maxHeader {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrLargeHeader, maxHeader)
		}
	}
	tokens, n := map[string]election.Token{}, 0
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			n++
			if err := parseEntry(tokens, strings.Trim(entry, " \t")); err != nil {
				return nil, fmt.Errorf("%w: entry %d: %w", ErrMalformedHeader, n, err)
			}
		}
	}
	return tokens, nil
}

// parseEntry adds one entry to tokens. An empty one is none: HTTP wants lists
// to be read so (RFC 9110, section 5.6.1).
func parseEntry(tokens map[string]election.Token, entry string) error {
	if entry == "" {
		return nil
	}
	escaped, number, ok := strings.Cut(entry, "=")
	if !ok {
		return errors.New("no = between election and token")
	}
	name, ok := unescapeName(escaped)
	if !ok {
		return errors.New("the election's name is not percent-encoded")
	}
	t, ok := parseToken(number)
	if !ok {
		return errors.New("the token is not a decimal number from 1 to 2^53 - 1")
	}
	if before, twice := tokens[name]; twice && before != t {
		return errors.New("a second token for the same election")
	}
	tokens[name] = t
	return nil
}

const hexDigits = "0123456789ABCDEF"

func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// escapeName writes a name with the characters that RFC 3986 calls unreserved.
func escapeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; isPlain(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	return b.String()
}

// unescapeName reads what escapeName writes, with either case of hex digits. A
// plain character may be escaped, any other must be. An empty name is none.
func unescapeName(s string) (string, bool) {
	name := make([]byte, 0, len(s))
	for ; s != ""; s = s[1:] {
		switch {
		case isPlain(s[0]):
			name = append(name, s[0])
		case s[0] == '%' && len(s) >= 3:
			hi, lo := hexValue(s[1]), hexValue(s[2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			name = append(name, byte(hi<<4|lo))
			s = s[2:]
		default:
			return "", false
		}
	}
	return string(name), len(name) > 0
}

// hexValue is what a hex digit stands for; -1 for anything else.
func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
