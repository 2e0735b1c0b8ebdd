package bench

import (
	"slices"
	"strings"
	"testing"
)

// namesIn reads text in pieces of n bytes.
func namesIn(text string, n int) (names []string) {
	var r requests
	for piece := range slices.Chunk([]byte(text), n) {
		r.read(piece, func(name string) { names = append(names, name) })
	}
	return names
}

func TestRequests(t *testing.T) {
	set := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$22\r\n*1\r\n$4\r\nPING\r\n\r\n$4\r\nab\r\n"
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"*1\r\n$4\r\nPING\r\n", "ping"},
		{"*1\r\n$4\r\nPING\r\n*2\r\n$4\r\necho\r\n$0\r\n\r\n*1\r\n$4\r\nINFO\r\n", "ping echo info"},
		{set + "*1\r\n$4\r\nPING\r\n", "set ping"}, // what looks like a request in a value is none
		{"PING\r\n*1\r\n$4\r\nPING\r\n", "ping"},
		{"*0\r\n*-1\r\n*x\r\n*99999999999\r\n$4\r\nPING\r\n", ""},
		{"*1\r\n$-1\r\n*1\r\n$4\r\nPING\r\n", "ping"},
		{strings.Repeat("x", 1000) + "\r\n*1\r\n$4\r\nPING\r\n", "ping"},
	} {
		for n := 1; n <= len(tt.text)+1; n++ {
			if got := strings.Join(namesIn(tt.text, n), " "); got != tt.want {
				t.Errorf("%q in pieces of %d: %q, want %q", tt.text, n, got, tt.want)
			}
		}
	}
}

// FuzzRequests: how the bytes are cut into pieces changes nothing.
func FuzzRequests(f *testing.F) {
	f.Add("*2\r\n$4\r\nECHO\r\n$2\r\nab\r\n*1\r\n$4\r\nPING\r\n", 3)
	f.Add("*1\r\n$400000000\r\nPING\r\n", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 1 || n > 1<<16 {
			return
		}
		whole, pieces := namesIn(text, len(text)+1), namesIn(text, n)
		if !slices.Equal(whole, pieces) {
			t.Errorf("%q: %q at once, %q in pieces of %d", text, whole, pieces, n)
		}
	})
}
