package virtual_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
)

// TestEveryCell plays a few seeds of each fault in each mode, and looks at what
// each fault is about. Most runs have guards.
func TestEveryCell(t *testing.T) {
	for _, m := range modes {
		for _, f := range fault.All() {
			for seed := range uint64(3) {
				s := spec(1000+seed, m.mode, m.masters, f.Name)
				if seed == 2 {
					s.Guards = history.GuardsOff
				}
				run := play(t, s)
				for _, v := range measure.Check(run) {
					t.Errorf("%s: %s", s, v)
				}
				switch {
				case f.Name == fault.Random: // see TestSchedules
				case f.Store:
					inspectStore(t, s, f, run)
				default:
					inspect(t, s, f, run)
				}
			}
		}
	}
}

// inspectStore checks that the fault struck a master, in a live term, and was healed
// if that is possible.
func inspectStore(t *testing.T, s virtual.Spec, f fault.Fault, run history.Run) {
	t.Helper()
	struck := of(run, history.Fault)
	want := 1
	if f.Name == "failover-twice" {
		want = 2
	}
	if len(struck) != want || struck[0].Name != s.Fault || !strings.HasPrefix(struck[0].Actor, "master-") || struck[0].Floor > s.TTL {
		t.Fatalf("%s: faults: %+v", s, struck)
	}
	resigned := slices.ContainsFunc(of(run, history.TermEnded), func(ev history.Event) bool { return ev.At == struck[0].At && ev.Err == "resigned" })
	if lives := struck[0].Floor > 0; !lives && f.Acks == 0 && !resigned { // with acks no renewal counts from before it on
		t.Errorf("%s: no lease is left to be struck", s)
	}
	cut := 0
	for _, ev := range of(run, history.Note) {
		if strings.HasPrefix(ev.Name, "cut off from") {
			cut++
		}
	}
	heals := f.Most > 0 || cut > 0 && !killed(run)
	switch {
	case f.Name == "partition-majority":
		if cut != s.Masters/2+1 {
			t.Errorf("%s: the leader is cut off from %d masters", s, cut)
		}
	case f.Name != "master-partition" && cut != 0 && cut != s.Masters/2:
		t.Errorf("%s: the leader is cut off from %d masters", s, cut)
	}
	if healed := len(of(run, history.Healed)); (healed == 1) != heals || healed > 1 {
		t.Errorf("%s: healed %d times", s, healed)
	}
}

// killed reports whether a leader was never heard of again.
func killed(run history.Run) bool {
	return slices.ContainsFunc(of(run, history.TermEnded), func(ev history.Event) bool { return ev.Err == "never heard of again" })
}

// inspect checks that the fault struck as it should, and that the figures are
// possible.
func inspect(t *testing.T, s virtual.Spec, f fault.Fault, run history.Run) {
	t.Helper()
	got := measure.Of(run)
	struck := of(run, history.Fault)
	healed := of(run, history.Healed)
	if len(struck) != 1 || struck[0].Name != s.Fault || struck[0].Actor == "" {
		t.Fatalf("%s: faults: %+v", s, struck)
	}
	if want := f.Most > 0; (len(healed) == 1) != want {
		t.Errorf("%s: healed: %+v", s, healed)
	}
	if floor := struck[0].Floor; (floor == 0) != f.Releases || floor > s.TTL {
		t.Errorf("%s: floor is %s", s, floor)
	}
	// The lease cannot be free before its time, and there is always a successor, where
	// no renewal comes through or comes late.
	switch f.Name {
	case "calm":
		if !got.Kept {
			t.Errorf("%s: the leader was lost", s)
		}
	case "slow-link", "lossy-link":
		if !got.Kept && (!got.FailedOver || got.Overshoot < 0) {
			t.Errorf("%s: failed over is %v, overshoot %s", s, got.FailedOver, got.Overshoot)
		}
	default:
		if !got.FailedOver || got.Overshoot < 0 || got.Overshoot > 50*time.Millisecond {
			t.Errorf("%s: failed over is %v, after %s, overshoot %s", s, got.FailedOver, got.Failover, got.Overshoot)
		}
	}
	stale := 0
	if f.Name == "pause-write" {
		stale = 1
	}
	if got.StaleAttempted != stale || got.StaleAcceptedUnfenced != stale || got.StaleAcceptedFenced != 0 {
		t.Errorf("%s: stale acts %d, accepted %d, with a fence %d; want %d, %d, 0", s,
			got.StaleAttempted, got.StaleAcceptedUnfenced, got.StaleAcceptedFenced, stale, stale)
	}
	if f.Name == "partition" && !endedBy(run, struck[0], "unreachable") {
		t.Errorf("%s: the leader did not lose its term for want of contact", s)
	}
}

// of lists the events of a kind.
func of(run history.Run, k history.Kind) (events []history.Event) {
	for _, ev := range run.Events {
		if ev.Kind == k {
			events = append(events, ev)
		}
	}
	return events
}

// endedBy reports whether the term of the struck leader stopped for that reason.
func endedBy(run history.Run, struck history.Event, reason string) bool {
	for _, ev := range of(run, history.TermStopping) {
		if ev.Actor == struck.Actor && ev.At > struck.At && ev.Err == reason {
			return true
		}
	}
	return false
}

func TestHistoryHead(t *testing.T) {
	run := play(t, spec(7, "quorum", 3, "resign"))
	if run.Seed != 7 || run.Mode != "quorum" || run.Masters != 3 || run.Fault != "resign" || run.Guards != "on" ||
		run.Lab != "virtual" || run.TTL != 2*time.Second || run.Length < time.Second || run.Length > 10*time.Second {
		run.Events = nil
		t.Errorf("head is %+v", run)
	}
}

// TestOthers plays what the default comparison does not.
func TestOthers(t *testing.T) {
	for _, s := range []virtual.Spec{
		{Seed: 1, Mode: "single", Masters: 1, Fault: "crash", TTL: 100 * time.Millisecond, Candidates: 2},
		{Seed: 2, Mode: "single", Masters: 1, Fault: "pause-write", TTL: time.Hour, Candidates: 2},
		{Seed: 3, Mode: "quorum", Masters: 7, Fault: "partition", TTL: 15 * time.Second, Candidates: 8},
		{Seed: 4, Mode: "quorum", Masters: 3, Fault: "resign", TTL: 2 * time.Second, Candidates: 20},
		{Seed: 5, Mode: "single", Masters: 1, Fault: "restart-empty", TTL: 100 * time.Millisecond, Candidates: 2},
		{Seed: 6, Mode: "single", Masters: 1, Fault: "failover-twice", TTL: time.Hour, Candidates: 2},
		{Seed: 2, Mode: "quorum", Masters: 9, Fault: "flushall", TTL: 15 * time.Second, Candidates: 8},
		{Seed: 4, Mode: "quorum", Masters: 3, Fault: "failover", TTL: 2 * time.Second, Candidates: 20},
		{Seed: 1, Mode: "quorum", Masters: 9, Fault: "random", TTL: 2 * time.Second, Candidates: 50},
		{Seed: 2, Mode: "quorum", Masters: 5, Fault: "crash", TTL: 2 * time.Second, Candidates: 3, Loss: virtual.MaxLoss, Drift: virtual.MaxDrift},
		{Seed: 3, Mode: "single", Masters: 1, Fault: "pause", TTL: 3 * time.Second, Candidates: 3, Link: "wan", Renew: 500 * time.Millisecond},
		{Seed: 4, Mode: "quorum", Masters: 3, Fault: "flushall", TTL: 3 * time.Second, Candidates: 3, Link: "wan", Drift: 0.5},
		{Seed: 5, Mode: "quorum", Masters: 3, Fault: "restart-empty", TTL: 100 * time.Millisecond, Candidates: 3, Link: "zone"},
	} {
		run := play(t, s)
		if v := measure.Check(run); len(v) > 0 {
			t.Errorf("%s: %v", s, v)
		}
		if f := measure.Of(run); !f.FailedOver && !f.Kept {
			t.Errorf("%s: no successor", s)
		}
	}
}

func TestSpecValidate(t *testing.T) {
	if err := spec(1, "quorum", 5, "pause").Validate(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		change func(*virtual.Spec)
		want   string
	}{
		{func(s *virtual.Spec) { s.Mode = "both" }, `mode "both"`},
		{func(s *virtual.Spec) { s.Masters = 3 }, "masters 3: must be 1"},
		{func(s *virtual.Spec) { s.Mode = "quorum" }, "masters 1: must be from 3"},
		{func(s *virtual.Spec) { s.Fault = "flood" }, `fault "flood"`},
		{func(s *virtual.Spec) { s.Guards = "none" }, `guards "none": must be on or off`},
		{func(s *virtual.Spec) { s.TTL = time.Millisecond }, "TTL 1ms: must be from 100ms"},
		{func(s *virtual.Spec) { s.TTL += time.Microsecond }, "whole number"},
		{func(s *virtual.Spec) { s.Candidates = 1 }, "candidates 1: must be from 2 to 50"},
		{func(s *virtual.Spec) { s.Candidates = 51 }, "candidates 51: must be from 2 to 50"},
		{func(s *virtual.Spec) { s.Renew = time.Second }, "renew: 1s: must be from 1ms to a third of the TTL, 666.666666ms"},
		{func(s *virtual.Spec) { s.Link = "moon" }, `link: "moon": must be of lan, zone, wan`},
		{func(s *virtual.Spec) { s.Link = "wan" }, "ttl: 2s: must be at least 3s on a link like wan"},
		{func(s *virtual.Spec) { s.Loss = 0.21 }, "loss: 0.21: must be from 0 to 0.2"},
		{func(s *virtual.Spec) { s.Loss, s.TTL = 0.1, time.Second }, "ttl: 1s: must be at least 2s with losses"},
		{func(s *virtual.Spec) { s.Drift = 1.1 }, "drift: 1.1: must be from 0 to 1 per cent"},
		{func(s *virtual.Spec) { s.Drift = math.NaN() }, "drift: NaN"},
		{func(s *virtual.Spec) { s.Schedule = &fault.Schedule{Name: "x"} }, `fault "crash": must be the name of the schedule, "x"`},
		{func(s *virtual.Spec) { s.Fault, s.Schedule = "x", &fault.Schedule{Name: "x"} }, "steps: 0 of them"},
	} {
		s := spec(1, "single", 1, "crash")
		tt.change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error is %v, want %q", err, tt.want)
		}
		if _, err := virtual.Play(s); err == nil {
			t.Errorf("%s was played", s)
		}
	}
}

func TestPlayOutsideOfABubble(t *testing.T) {
	_, err := virtual.Play(spec(1, "single", 1, "crash"))
	if err == nil || !strings.Contains(err.Error(), "bubble") {
		t.Errorf("error is %v", err)
	}
}
