package virtual_test

import (
	"encoding/json"
	"flag"
	"runtime"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
)

// modes are those that are compared by default.
var modes = []struct {
	mode    string
	masters int
}{{"single", 1}, {"quorum", 3}, {"quorum", 5}}

var seeds = flag.Uint64("seeds", 240, "how many seeds TestSameSeedSameHistory plays")

// TestSameSeedSameHistory plays 240 seeds, spread over modes, faults, guards, links and
// clocks, and a random schedule in every fifth, at two values of GOMAXPROCS. One seed
// played often would prove little.
func TestSameSeedSameHistory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	names := fault.Names()
	events, different := 0, 0
	for seed := range *seeds {
		m, rest := modes[seed%uint64(len(modes))], seed/uint64(len(modes))
		s := spec(seed, m.mode, m.masters, names[rest%uint64(len(names))])
		if seed%5 == 0 {
			s.Fault = fault.Random
		}
		if rest/uint64(len(names))%2 == 1 {
			s.Guards = history.GuardsOff
		}
		vary(&s, seed)
		runtime.GOMAXPROCS(1)
		one := lines(t, s)
		runtime.GOMAXPROCS(2)
		two := lines(t, s)
		events += len(one)
		if i, ok := difference(one, two); ok {
			different++
			t.Errorf("%s: event %d differs\n1: %s\n2: %s", s, i, at(one, i), at(two, i))
		}
	}
	t.Logf("%d events, %d seeds differ", events, different)
	if events < int(*seeds)*20 {
		t.Errorf("only %d events in %d histories", events, *seeds)
	}
	if _, ok := difference(lines(t, spec(1, "single", 1, "crash")), lines(t, spec(2, "single", 1, "crash"))); !ok {
		t.Error("two seeds have one history")
	}
}

// vary gives every other seed conditions that are not the default.
func vary(s *virtual.Spec, seed uint64) {
	switch seed % 8 {
	case 1:
		s.Drift = 1
	case 3:
		s.TTL, s.Link, s.Candidates = 3*time.Second, "wan", 2
	case 5:
		s.Loss, s.Renew = 0.1, 400*time.Millisecond
	case 7:
		s.Candidates, s.Link, s.Drift, s.Loss = 6, "zone", 0.5, 0.02
	}
}

// lines plays a run and returns its events as they would be written.
func lines(t *testing.T, s virtual.Spec) []string {
	t.Helper()
	run := play(t, s)
	out := make([]string, len(run.Events))
	for i, ev := range run.Events {
		text, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(text)
	}
	return out
}

// difference is the first index at which two lists differ.
func difference(a, b []string) (int, bool) {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return i, true
		}
	}
	return 0, false
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}
