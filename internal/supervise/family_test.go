//go:build linux || darwin

package supervise

import "testing"

func TestDescribe(t *testing.T) {
	list := []member{{pid: 1, name: "a", state: "D"}, {pid: 2, name: "b c", state: "R"}}
	if got, want := describe(list), "1 a (state D), 2 b c (state R)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	list = append(list, make([]member, 5)...)
	if got, want := describe(list)[len(describe(list))-11:], " and 2 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
