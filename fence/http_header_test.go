package fence_test

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/quick"

	"incumbent/election"
	"incumbent/fence"
)

type tokens = map[string]election.Token

func header(lines ...string) http.Header { return http.Header{fence.Header: lines} }

func TestParseTokens(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  tokens
	}{
		{nil, tokens{}},
		{[]string{""}, tokens{}},
		{[]string{" , ,\t"}, tokens{}},
		{[]string{"a=1"}, tokens{"a": 1}},
		{[]string{"a=9007199254740991"}, tokens{"a": election.MaxToken}},
		{[]string{"a=1,b=2"}, tokens{"a": 1, "b": 2}},
		{[]string{" a=1 ,\tb=2,"}, tokens{"a": 1, "b": 2}},
		{[]string{"a=1", "b=2, c=3"}, tokens{"a": 1, "b": 2, "c": 3}},
		{[]string{"a=1, a=1", "%61=1"}, tokens{"a": 1}},
		{[]string{"bridge-health_1.x~=7"}, tokens{"bridge-health_1.x~": 7}},
		{[]string{"a%2Cb%3d%25=7"}, tokens{"a,b=%": 7}},
		{[]string{"%C3%A9%00=7"}, tokens{"é\x00": 7}},
	} {
		got, err := fence.ParseTokens(header(tt.lines...))
		if err != nil || !maps.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v, want %v", tt.lines, got, err, tt.want)
		}
	}
}

func TestParseTokensRefuses(t *testing.T) {
	for _, lines := range [][]string{
		{"a"}, {"a="}, {"=1"}, {"="}, {"a=0"}, {"a=-1"}, {"a=+1"}, {"a=01"}, {"a=1.0"}, {"a=1e3"}, {"a=0x1"}, {"a=1_0"}, {"a= 1"},
		{"a =1"}, {"a=1 b=2"}, {"a=1;b=2"}, {"a=1=2"}, {"a=9007199254740992"}, {"a=18446744073709551617"}, {"a=١"}, {`a="1"`},
		{"é=1"}, {"a b=1"}, {"a/b=1"}, {"%=1"}, {"%4=1"}, {"%4g=1"}, {"a%=1"}, {"%%41=1"}, {"a+b=1"}, {"a\x00=1"},
		{"a=1,a=2"}, {"a=1", "a=2"}, {"a=1", "%61=2"}, {"a=1, b"}, {"secret<script>"},
	} {
		got, err := fence.ParseTokens(header(lines...))
		if !errors.Is(err, fence.ErrMalformedHeader) || got != nil {
			t.Errorf("%q: %v, %v, want ErrMalformedHeader", lines, got, err)
			continue
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "script") {
			t.Errorf("the error repeats what was received: %v", err)
		}
	}
}

func TestParseTokensIsBounded(t *testing.T) {
	entry := "a=1," // 4 bytes
	if _, err := fence.ParseTokens(header(strings.Repeat(entry, 2048))); err != nil {
		t.Errorf("8 KiB: %v", err)
	}
	for _, lines := range [][]string{
		{strings.Repeat(entry, 2049)},
		{strings.Repeat(entry, 1024), strings.Repeat(entry, 1025)},
	} {
		if got, err := fence.ParseTokens(header(lines...)); !errors.Is(err, fence.ErrLargeHeader) || got != nil {
			t.Errorf("above 8 KiB: %v, %v", got, err)
		}
	}
}

// What FormatToken writes, ParseTokens reads, and nothing in it could be taken
// for another entry, another line or the end of the header.
func TestFormatTokenAndBack(t *testing.T) {
	back := func(name string, n uint64) bool {
		name, token := "n"+name, election.Token(n%uint64(election.MaxToken)+1)
		entry := fence.FormatToken(name, token)
		got, err := fence.ParseTokens(header("x=1, "+entry, entry))
		return err == nil && maps.Equal(got, tokens{"x": 1, name: token}) && !strings.ContainsAny(entry, ", \t\r\n\"")
	}
	if err := quick.Check(back, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
	if got := fence.FormatToken("sync/eu é", 7); got != "sync%2Feu%20%C3%A9=7" {
		t.Errorf("FormatToken = %s", got)
	}
}

// FuzzParseTokens: never a panic, never a token that cannot be, and what was
// read is read again from what FormatToken writes.
func FuzzParseTokens(f *testing.F) {
	for _, s := range []string{"", "a=1", "a=1,b=2", "%61=9007199254740991", "a=1,a=2", "a%2=1", ",,=,%", "a=01"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		got, err := fence.ParseTokens(header(one, two))
		if err != nil {
			if got != nil || errors.Is(err, fence.ErrMalformedHeader) == errors.Is(err, fence.ErrLargeHeader) {
				t.Fatalf("%q, %q: %v, %v", one, two, got, err)
			}
			return
		}
		lines := []string{}
		for name, token := range got {
			if name == "" || token == 0 || token > election.MaxToken {
				t.Fatalf("%q, %q: %v", one, two, got)
			}
			lines = append(lines, fence.FormatToken(name, token))
		}
		again, err := fence.ParseTokens(header(lines...))
		if tooLong := errors.Is(err, fence.ErrLargeHeader); !tooLong && (err != nil || !maps.Equal(again, got)) {
			t.Fatalf("%v became %v, %v", got, again, err)
		}
	})
}
