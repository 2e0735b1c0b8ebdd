package virtual

import (
	"encoding/json"
	"flag"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/simnet"
)

var worlds = flag.Int("worlds", 60, "how many runs TestNativeHistoryIsThatOfLua plays")

// TestNativeHistoryIsThatOfLua plays runs twice, with scripts that are answered
// natively and in Lua. The histories must be equal.
func TestNativeHistoryIsThatOfLua(t *testing.T) {
	answered := 0
	counted := map[string]simnet.NativeScript{}
	for sha, f := range natives {
		counted[sha] = func(d *simnet.Data, keys, argv []string) ([]any, bool) {
			reply, ok := f(d, keys, argv)
			if ok {
				answered++
			}
			return reply, ok
		}
	}
	defer func(all map[string]simnet.NativeScript) { natives = all }(natives)
	for i := range *worlds {
		s := worldSpec(i)
		natives = nil
		lua := eventsOf(t, s)
		natives = counted
		before := answered
		if got := eventsOf(t, s); !slices.Equal(got, lua) {
			i := 0
			for i < min(len(got), len(lua)) && got[i] == lua[i] {
				i++
			}
			t.Errorf("%s: from event %d on (of %d and %d):\nLua:    %.1q\nnative: %.1q", s, i, len(lua), len(got), lua[i:], got[i:])
		}
		if answered == before {
			t.Errorf("%s: no script was answered natively", s)
		}
	}
	t.Logf("%d scripts were answered natively", answered)
	if answered < 20**worlds {
		t.Errorf("only %d scripts were answered natively", answered)
	}
}

// worldSpec is one of all kinds of runs. Neighbours differ in mode and fault.
func worldSpec(i int) Spec {
	names := fault.Names()
	s := Spec{
		Seed: uint64(1000 + i), Mode: "quorum", Masters: []int{1, 3, 5}[(i+i/len(names))%3], Fault: names[i%len(names)],
		Guards: []string{history.GuardsOn, history.GuardsOff}[i/len(names)%2], TTL: 2 * time.Second, Candidates: 3,
	}
	if s.Masters == 1 {
		s.Mode = "single"
	}
	return s
}

// eventsOf plays a run, and returns its events as they are written.
func eventsOf(t *testing.T, s Spec) (lines []string) {
	synctest.Test(t, func(t *testing.T) {
		run, err := Play(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range run.Events {
			text, err := json.Marshal(ev)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(text))
		}
	})
	return lines
}
