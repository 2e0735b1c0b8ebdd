package benchfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Encodings that are read.
const (
	UTF8    = "UTF-8"
	UTF16LE = "UTF-16LE"
	UTF16BE = "UTF-16BE"
)

// peeked is how much of a file is looked at to tell its encoding.
const peeked = 4096

const asUTF8 = "save it as UTF-8, in PowerShell with: | Out-File -Encoding utf8 FILE"

// decode returns the text of r in UTF-8, and the encoding that it was in.
func decode(r io.Reader, file string) (io.Reader, string, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	if kind, remedy := foreign(head); kind != "" {
		return nil, "", &EncodingError{File: file, Encoding: kind, Remedy: remedy}
	}
	switch encodingOf(head) {
	case UTF16LE:
		return &utf16Reader{r: b, file: file, name: UTF16LE, order: binary.LittleEndian}, UTF16LE, nil
	case UTF16BE:
		return &utf16Reader{r: b, file: file, name: UTF16BE, order: binary.BigEndian}, UTF16BE, nil
	}
	return b, UTF8, nil
}

// foreign names what is no text, or in an encoding that is not read, by its first
// bytes.
func foreign(head []byte) (kind, remedy string) {
	for _, f := range []struct{ magic, kind, remedy string }{
		{"\xff\xfe\x00\x00", "UTF-32", asUTF8},
		{"\x00\x00\xfe\xff", "UTF-32", asUTF8},
		{"\x1f\x8b", "a gzip archive", "unpack it first"},
		{"PK\x03\x04", "a zip archive", "unpack it first"},
		{"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it first"},
		{"\x7fELF", "a program", "give what it printed"},
		{"MZ\x90\x00", "a program", "give what it printed"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.kind, f.remedy
		}
	}
	return "", ""
}

// encodingOf tells UTF-16 by its byte order mark, or by its zero bytes: every second
// byte of English text is one, from its beginning on.
func encodingOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return UTF16LE
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return UTF16BE
	}
	if bytes.IndexByte(head[:min(len(head), 16)], 0) < 0 {
		return UTF8
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	most := len(head) / 4 // half of all pairs
	switch even, odd := zeros[0], zeros[1]; {
	case odd > most && even <= odd/8:
		return UTF16LE
	case even > most && odd <= even/8:
		return UTF16BE
	}
	return UTF8
}

// utf16Reader turns UTF-16 into UTF-8.
type utf16Reader struct {
	r     *bufio.Reader
	file  string
	name  string
	order binary.ByteOrder
	raw   [8192]byte
	kept  int // bytes of raw that the last round left
	high  rune
	seen  []byte // the end of what was read before, to look across the border
	out   []byte
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// fill decodes the next piece of the file.
func (u *utf16Reader) fill() {
	n, err := u.r.Read(u.raw[u.kept:])
	if u.err = err; u.mixed(u.raw[u.kept : u.kept+n]) {
		u.err = mixed(u.file, u.name)
	}
	n += u.kept
	u.out = u.out[:0]
	for i := 0; i+1 < n; i += 2 {
		u.add(rune(u.order.Uint16(u.raw[i:])))
	}
	if u.err != nil && (u.high != 0 || n%2 == 1) { // the file ends within a character
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
	}
	u.kept = copy(u.raw[:], u.raw[n-n%2:n])
}

// add appends a character, the second half of a pair with its first.
func (u *utf16Reader) add(c rune) {
	switch first := u.high; {
	case first != 0 && utf16.IsSurrogate(c):
		u.out, u.high = utf8.AppendRune(u.out, utf16.DecodeRune(first, c)), 0
		return
	case first != 0:
		u.out, u.high = utf8.AppendRune(u.out, utf8.RuneError), 0
	}
	if utf16.IsSurrogate(c) {
		u.high = c
		return
	}
	u.out = utf8.AppendRune(u.out, c)
}

// mixed reports whether 8-bit results follow in the UTF-16 file, as when one shell
// appends to the file of another: decoded, they would be lost without a word.
func (u *utf16Reader) mixed(raw []byte) bool {
	u.seen = append(u.seen, raw...)
	found := bytes.Contains(u.seen, benchmark)
	keep := min(len(u.seen), len(benchmark)-1)
	u.seen = append(u.seen[:0], u.seen[len(u.seen)-keep:]...)
	return found
}

// mixed is the error for a file that changes its encoding.
func mixed(file, first string) error {
	return &EncodingError{File: file, Encoding: first + " with results in another encoding appended", Remedy: "write each run to a file of its own, in one encoding"}
}
