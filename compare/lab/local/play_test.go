package local_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/measure"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

var (
	workers    = flag.Int("workers", 3, "how many runs TestPlay and TestUnguarded play side by side each")
	everywhere = flag.Bool("everywhere", false, "TestPlay plays each fault in each mode, and not in one of them by turns")
	playFaults = flag.String("faults", "all", "what TestPlay plays: faults or groups, with commas")
	playTTL    = flag.Duration("ttl", 400*time.Millisecond, "of leases in TestPlay")
	runs       = flag.Uint64("runs", 1, "how many runs TestPlay plays of each fault")
	fakeTime   = flag.String("faketime", "", "path of libfaketimeMT.so.1, if it is not where packages put it")
	unguarded  = flag.Int("unguarded", 3, "how many runs without guards are played of each fault")
)

// needsClocks are faults that need libfaketime.
var needsClocks = []string{"clock-back", "clock-jump", "clock-jump-new"}

// A job of a comparison is a spec, field by field.
var _ = local.Spec(compare.Job{})

// TestPlay plays every fault, in one mode after the other, with guards: no rule is
// broken, and somebody leads in the end.
func TestPlay(t *testing.T) {
	t.Parallel() // nothing here is a matter of milliseconds
	redistest.Require(t)
	var specs []local.Spec
	for seed := range *runs {
		for i, name := range fault.Expand(strings.Split(*playFaults, ",")) {
			for at, m := range modes() {
				if !*everywhere && (i+int(seed))%len(modes()) != at {
					continue
				}
				specs = append(specs, local.Spec{
					Seed: seed + uint64(i), Mode: m.options.Mode, Masters: max(1, m.options.Masters), Fault: name, TTL: *playTTL, Candidates: 3,
				})
			}
		}
	}
	p := local.Player{Stderr: os.Stderr, Workers: *workers, FakeTime: *fakeTime}
	again := playAll(t, p, specs)
	if len(again) > 0 {
		p.Workers = 1 // a machine that is too busy for short leases is no broken rule
		t.Logf("%d runs are played again, alone", len(again))
		for _, s := range playAll(t, p, again) {
			t.Errorf("%s of %d, %s: nobody leads in the end", s.Mode, s.Masters, s.Fault)
		}
	}
}

// playAll plays specs, checks them, and returns those in which nobody led in the end
// though somebody could.
func playAll(t *testing.T, p local.Player, specs []local.Spec) (leaderless []local.Spec) {
	t.Helper()
	played := 0
	err := p.Play(t.Context(), specs, func(i int, run history.Run, err error) {
		s := specs[i]
		played++
		switch {
		case errors.Is(err, fault.ErrUnsupported) && (s.Fault == "suspend" || slices.Contains(needsClocks, s.Fault)):
			return
		case err != nil:
			t.Errorf("%s of %d, %s: %v", s.Mode, s.Masters, s.Fault, err)
			return
		}
		checkRun(t, run)
		if leaderInTheEnd(run) == "" && canLead(run) {
			leaderless = append(leaderless, s)
		}
	})
	if err != nil || played != len(specs) {
		t.Errorf("%d of %d played: %v", played, len(specs), err)
	}
	return leaderless
}

// checkRun checks what every run keeps, and logs its figures.
func checkRun(t *testing.T, run history.Run) {
	t.Helper()
	for _, v := range measure.Check(run) {
		if v.Rule == measure.LeaderInTheEnd {
			continue // playAll plays it again
		}
		t.Errorf("%s of %d, %s: %v\n%s", run.Mode, run.Masters, run.Fault, v, timeline(run))
	}
	f := measure.Of(run)
	if f.Acts == 0 || run.Lab != local.Name || run.Candidates != 3 {
		t.Errorf("%s of %d, %s: %d acts, lab %s, %d candidates", run.Mode, run.Masters, run.Fault, f.Acts, run.Lab, run.Candidates)
	}
	t.Logf("%-7s %d %-18s kept %-5t failover %-7v overshoot %-7v leaderless %-7v overlap %v of %v, steps %v", run.Mode, run.Masters, run.Fault, f.Kept,
		f.Failover.Round(time.Millisecond/10), f.Overshoot.Round(time.Millisecond/10), f.Leaderless.Round(time.Millisecond),
		f.BeliefOverlap.Round(time.Millisecond), run.Length.Round(time.Millisecond), run.Steps)
}

// canLead reports whether the fault has left enough.
func canLead(run history.Run) bool { return measure.Promises(run).Lead }

// leaderInTheEnd is whose term is valid when the run ends.
func leaderInTheEnd(run history.Run) string {
	deadlines := map[string]time.Duration{}
	for _, e := range run.Events {
		switch e.Kind {
		case history.TermStarted, history.Renewed:
			deadlines[e.Actor] = e.Deadline
		case history.TermEnded:
			delete(deadlines, e.Actor)
		}
	}
	for actor, d := range deadlines {
		if d >= run.Length {
			return actor
		}
	}
	return ""
}

// rounds is how often TestUnguarded tries.
const rounds = 5

// TestUnguarded plays faults of the store without guards until two lead, which they do
// nearly always: so that what TestPlay shows is the work of the guards.
func TestUnguarded(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	open := []local.Spec{
		{Mode: "single", Masters: 1, Fault: "restart-empty"}, {Mode: "single", Masters: 1, Fault: "failover"},
		{Mode: "quorum", Masters: 3, Fault: "restart-empty"}, {Mode: "quorum", Masters: 3, Fault: "failover"},
		{Mode: "quorum", Masters: 3, Fault: "flushall"}, // with one master it takes luck
	}
	p := local.Player{Stderr: os.Stderr, Workers: *workers}
	for round := range uint64(rounds) {
		var specs []local.Spec
		for _, s := range open {
			s.Guards, s.TTL, s.Candidates = history.GuardsOff, time.Second, 3 // so long that a restart takes a small part
			for i := range uint64(*unguarded) {
				s.Seed = round*uint64(*unguarded) + i
				specs = append(specs, s)
			}
		}
		overlaps := map[string]int{}
		err := p.Play(t.Context(), specs, func(i int, run history.Run, err error) {
			if err != nil {
				t.Errorf("%+v: %v", specs[i], err)
				return
			}
			checkRun(t, run)
			if measure.Of(run).BeliefOverlap > 0 {
				overlaps[run.Mode+" "+run.Fault]++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("runs with two leaders, of %d each: %v", *unguarded, overlaps)
		open = slices.DeleteFunc(open, func(s local.Spec) bool { return overlaps[s.Mode+" "+s.Fault] > 0 })
		if len(open) == 0 {
			return
		}
	}
	t.Errorf("without guards no two led in %d runs each of %+v", rounds**unguarded, open)
}

// TestUnsupported: what the lab cannot do it says, in one sentence.
func TestUnsupported(t *testing.T) {
	for want, s := range map[string]local.Spec{
		"suspend its own host":       {Fault: "suspend"},
		"must be one of":             {Fault: "earthquake"},
		"for simulations":            {Fault: "crash", Loss: 0.1},
		"for simulations ":           {Fault: "crash", Link: "wan"},
		"/no/such/library.so is not": {Fault: "clock-jump"},
		"/no/such/library.so":        {Fault: "two", Schedule: &fault.Schedule{Name: "two", Steps: []fault.Step{{Fault: "crash"}, {Fault: "clock-back"}}}},
	} {
		p := local.Player{FakeTime: "/no/such/library.so"}
		err := p.Supports(s)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error is %v, want %q in it", s, err, want)
		}
		if known := s.Fault != "earthquake"; errors.Is(err, fault.ErrUnsupported) != known {
			t.Errorf("%+v: is it unsupported? %v", s, err)
		}
	}
}

// TestNoServerProgram is one clear line.
func TestNoServerProgram(t *testing.T) {
	p := local.Player{ServerBinary: "no-such-server"}
	err := p.Play(t.Context(), []local.Spec{{Mode: "single", Masters: 1, Fault: "crash", TTL: time.Second, Candidates: 2}}, nil)
	if !errors.Is(err, redisproc.ErrNoBinary) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v", err)
	}
}

// TestInterrupted ends the context in the middle of runs: nothing is told any more, and
// nothing is left.
func TestInterrupted(t *testing.T) {
	redistest.Require(t)
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	specs := slices.Repeat([]local.Spec{{Mode: "single", Masters: 1, Fault: "resign", TTL: *playTTL, Candidates: 2}}, 50)
	told := 0
	p := local.Player{Workers: 2}
	err := p.Play(ctx, specs, func(i int, _ history.Run, err error) {
		if i != told || err != nil {
			t.Errorf("told of run %d after %d, error %v", i, told, err)
		}
		if told++; told == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || told < 2 || told > 4 {
		t.Errorf("%d runs told, error %v", told, err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
