package local_test

import (
	"os"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/measure"
	"incumbent/internal/redisproc/redistest"
)

// requireFakeTime is the variable that makes a missing libfaketime a failure when it is 1.
const requireFakeTime = "INCUMBENT_REQUIRE_FAKETIME"

// TestClocks plays what sets clocks on real servers: with guards nobody leads beside the
// leader, where they promise that, and without them two do.
func TestClocks(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	p := local.Player{Stderr: os.Stderr, Workers: *workers, FakeTime: *fakeTime}
	if err := p.Supports(local.Spec{Mode: "single", Masters: 1, Fault: "clock-jump"}); err != nil {
		if os.Getenv(requireFakeTime) == "1" {
			t.Fatalf("%v (%s=1 forbids to skip)", err, requireFakeTime)
		}
		t.Skip(err)
	}
	var specs []local.Spec
	for _, name := range needsClocks {
		for _, guards := range []string{history.GuardsOn, history.GuardsOff} {
			for seed := range uint64(2) {
				specs = append(specs, local.Spec{
					Seed: seed, Mode: "quorum", Masters: 3, Fault: name, Guards: guards, TTL: time.Second, Candidates: 3,
				})
			}
		}
	}
	overlaps := map[string]int{}
	err := p.Play(t.Context(), specs, func(i int, run history.Run, err error) {
		if err != nil {
			t.Errorf("%+v: %v", specs[i], err)
			return
		}
		checkRun(t, run)
		if set := clockSet(run); !set {
			t.Errorf("%s: no clock was set\n%s", run.Fault, timeline(run))
		}
		if measure.Of(run).BeliefOverlap > 0 {
			overlaps[run.Fault+" "+run.Guards]++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("runs with two leaders, of 2 each: %v", overlaps)
	if overlaps["clock-jump-new on"]+overlaps["clock-jump-new off"]+overlaps["clock-jump off"] == 0 {
		t.Error("a clock that jumps ahead never ended a lease early: was it set?")
	}
}

// clockSet reports whether a master's clock was set.
func clockSet(run history.Run) bool {
	for _, e := range run.Events {
		if e.Kind == history.Note && len(e.Name) > 10 && e.Name[:10] == "clock set " {
			return true
		}
	}
	return false
}
