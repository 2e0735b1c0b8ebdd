package simnet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func encode(args []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"", "*", "*1\r\n$4\r\nPING\r\n", "*1\r\n$4\r\nPI", "*-1\r\n", "*1\r\n$-1\r\n", "*x\r\n",
		"PING\r\n", "*2\r\n$0\r\n\r\n$1\r\nx\r\nmore", "*99999999999\r\n", "*1000000\r\n", "$1\r\n", "\n", "*1\r\n+x\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		args, n, err := parseCommand([]byte(s))
		if n < 0 || n > len(s) || (err != nil && n != 0) {
			t.Fatalf("%q: n = %d, %v", s, n, err)
		}
		if n == 0 {
			return
		}
		again, m, err := parseCommand([]byte(encode(args) + s))
		if err != nil || m != len(encode(args)) || !slices.Equal(again, args) {
			t.Fatalf("%q: encoded again: %q, %d, %v", args, again, m, err)
		}
	})
}

func TestParseCommandInPieces(t *testing.T) {
	want := []string{"SET", "", "a\r\nb"}
	whole := encode(want)
	for i := range len(whole) {
		if _, n, err := parseCommand([]byte(whole[:i])); n != 0 || err != nil {
			t.Errorf("after %d bytes: %d, %v", i, n, err)
		}
	}
	if got, n, err := parseCommand([]byte(whole + "*")); n != len(whole) || err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %d, %v", got, n, err)
	}
}

func TestQueueOrder(t *testing.T) {
	var q eventQueue
	seg := func(s string) *segment { return &segment{data: []byte(s)} }
	want := []event{
		{at: 1, order: 9}, {at: 2, order: 1, seg: seg("a")}, {at: 2, order: 1, seg: seg("b")},
		{at: 2, order: 1, seg: seg("b"), seq: 1}, {at: 2, order: 2}, {at: 3}, {at: 4}, {at: 5}, {at: 6}, {at: 7},
	}
	for shift := range want { // pushed in several orders
		for i := range want {
			q.push(want[(i*7+shift)%len(want)])
		}
		for i := range want {
			if got := q.pop(); got != want[i] {
				t.Fatalf("shift %d: event %d is %+v, want %+v", shift, i, got, want[i])
			}
		}
	}
}
