package virtual_test

import (
	"flag"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// The evidence in full is one command, which takes a while:
//
//	go run ./cmd/incumbent compare --faults store --guards on --runs 2000
var runs = flag.Uint64("runs", 6, "how many runs with guards TestGuardsCloseTheWindow plays of each fault in each mode")

// withoutGuards is how many runs without guards it takes at most until two lead.
const withoutGuards = 60

// TestGuardsCloseTheWindow plays what the guards of the store are for, in each mode:
// with guards no two candidates lead or act at once, and without guards two do.
func TestGuardsCloseTheWindow(t *testing.T) {
	for _, f := range fault.All() {
		if f.Danger != fault.Guarded {
			continue
		}
		for _, m := range modes {
			t.Run(f.Name+"/"+m.mode+string(rune('0'+m.masters)), func(t *testing.T) {
				t.Parallel()
				for seed := range *runs {
					checkGuarded(t, f, figures(t, 1+seed, m.mode, m.masters, f.Name, history.GuardsOn), 1+seed)
				}
				seed := uint64(1)
				for !leadTwice(t, figures(t, seed, m.mode, m.masters, f.Name, history.GuardsOff)) {
					if seed++; seed > withoutGuards {
						t.Fatalf("no two led in %d runs without guards", withoutGuards)
					}
				}
			})
		}
	}
}

// figures plays a run that must break no rule.
func figures(t *testing.T, seed uint64, mode string, masters int, name, guards string) measure.Figures {
	t.Helper()
	s := spec(seed, mode, masters, name)
	s.Guards = guards
	run := play(t, s)
	for _, v := range measure.Check(run) {
		t.Errorf("%s: %s", s, v)
	}
	return measure.Of(run)
}

// checkGuarded checks that nobody led beside the leader, and that somebody led in
// the end. Acts may be late where a leader may be stopped before them.
func checkGuarded(t *testing.T, f fault.Fault, got measure.Figures, seed uint64) {
	t.Helper()
	if got.BeliefOverlap > 0 || got.ActOverlap > 0 && !f.Stalls {
		t.Errorf("seed %d: two believed to lead for %s, and acted for %s", seed, got.BeliefOverlap, got.ActOverlap)
	}
	if !got.FailedOver && !got.Kept {
		t.Errorf("seed %d: nobody leads", seed)
	}
}

// leadTwice reports whether two led at once, and checks that the fence held.
func leadTwice(t *testing.T, f measure.Figures) bool {
	t.Helper()
	if f.StaleAcceptedFenced > 0 {
		t.Errorf("the fence took %d stale acts", f.StaleAcceptedFenced)
	}
	return f.BeliefOverlap > 0
}

// TestWhatGuardsCannotClose: these remain with guards on, and are measured.
func TestWhatGuardsCannotClose(t *testing.T) {
	for _, f := range fault.All() {
		if f.Danger != fault.Remaining {
			continue
		}
		for _, m := range modes {
			t.Run(f.Name+"/"+m.mode+string(rune('0'+m.masters)), func(t *testing.T) {
				t.Parallel()
				var longest time.Duration
				for seed := range uint64(4) {
					got := figures(t, 1+seed, m.mode, m.masters, f.Name, history.GuardsOn)
					longest = max(longest, got.BeliefOverlap)
				}
				if longest == 0 {
					t.Error("no two led: the fault is less than it says")
				}
			})
		}
	}
}
