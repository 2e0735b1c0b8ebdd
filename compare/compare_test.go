package compare_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab answers each job with what play returns.
type lab struct {
	play func(j compare.Job) (history.Run, error)
}

func (lab) Name() string { return "fake" }

func (l lab) Play(ctx context.Context, jobs []compare.Job, done func(int, history.Run, error)) error {
	for i, j := range jobs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		run, err := l.play(j)
		done(i, run, err)
	}
	return nil
}

// good is a run with a failover of 10 ms; with a second leader before the first one
// is gone if overlap is set.
func good(j compare.Job, overlap bool) history.Run {
	second := 210 * time.Millisecond
	if overlap {
		second = 190 * time.Millisecond
	}
	return history.Run{
		Seed: j.Seed, Mode: j.Mode, Masters: j.Masters, Fault: j.Fault, Guards: j.Guards, Lab: "fake", Length: time.Second,
		Events: []history.Event{
			{At: 1, Actor: "a", Kind: history.TermStarted, Token: 1, Deadline: 200 * time.Millisecond},
			{At: 180 * time.Millisecond, Actor: "a", N: 1, Kind: history.Fault, Floor: 25 * time.Millisecond},
			{At: 200 * time.Millisecond, Actor: "a", N: 2, Kind: history.TermEnded, Token: 1},
			{At: second, Actor: "b", Kind: history.TermStarted, Token: 2, Deadline: 2 * time.Second},
			{At: second + 1, Actor: "b", N: 1, Kind: history.Acted, Token: 2},
		},
	}
}

func plan() compare.Plan {
	return compare.Plan{
		Seed: 10, Runs: 3, TTL: time.Second, Candidates: 3,
		Modes:  []compare.Mode{{Kind: "single", Masters: 1}, {Kind: "quorum", Masters: 5}},
		Faults: []string{"pause", "crash"},
	}
}

func TestRun(t *testing.T) {
	var progress []int
	var sunk []string
	r, err := compare.Run(t.Context(), plan(), lab{func(j compare.Job) (history.Run, error) { return good(j, false), nil }},
		func(done int) { progress = append(progress, done) },
		func(run history.Run, f measure.Figures) error {
			sunk = append(sunk, fmt.Sprint(run.Seed, run.Mode, run.Fault, f.Failover))
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if r.Runs != 12 || r.Acts != 12 || len(r.Broken)+len(r.Failed) != 0 || r.Interrupted || r.GaveUp || r.Lab != "fake" {
		t.Errorf("result is %+v", r)
	}
	if len(progress) != 12 || progress[11] != 12 || len(sunk) != 12 || sunk[0] != "10singlepause30ms" || sunk[11] != "12quorumcrash30ms" {
		t.Errorf("progress %v, sink %v", progress, sunk)
	}
	var cells []string
	for _, c := range r.Cells {
		cells = append(cells, fmt.Sprint(c.Fault, c.Mode, c.Masters, c.Runs, c.Failover.P50, c.Overshoot.P50))
	}
	want := []string{"pausesingle1 3 30 5", "pausequorum5 3 30 5", "crashsingle1 3 30 5", "crashquorum5 3 30 5"}
	if !slices.Equal(cells, want) {
		t.Errorf("cells are %q, want %q", cells, want)
	}
}

// TestRunFindsWhatIsBroken: one run of one cell has two leaders.
func TestRunFindsWhatIsBroken(t *testing.T) {
	r, err := compare.Run(t.Context(), plan(), lab{func(j compare.Job) (history.Run, error) {
		return good(j, j.Seed == 11 && j.Mode == "quorum" && j.Fault == "crash"), nil
	}}, nil, nil)
	if err != nil || len(r.Broken) != 1 || r.Broken[0].Violation.Rule != measure.BeliefOverlap {
		t.Fatalf("error %v, broken %+v", err, r.Broken)
	}
	want := "incumbent replay 11 --mode quorum5 --fault crash --guards on --ttl 1s --candidates 3"
	if got := r.Broken[0].Job.Command(r.Lab); got != want {
		t.Errorf("replay with %q, want %q", got, want)
	}
}

// TestGuards: those that a plan names, or else both where they matter. What is a
// broken rule with guards is a result without.
func TestGuards(t *testing.T) {
	for _, tt := range []struct {
		guards []string
		want   string
	}{
		{nil, "crash/on flushall/on flushall/off master-crash/on old-primary/on old-primary/off"},
		{[]string{"off"}, "crash/off flushall/off master-crash/off old-primary/off"},
		{[]string{"off", "on"}, "crash/off crash/on flushall/off flushall/on master-crash/off master-crash/on old-primary/off old-primary/on"},
	} {
		p := plan()
		p.Runs, p.Modes, p.Guards = 1, p.Modes[:1], tt.guards
		p.Faults = []string{"crash", "flushall", "master-crash", "old-primary"}
		r, err := compare.Run(t.Context(), p, lab{func(j compare.Job) (history.Run, error) { return good(j, j.Fault != "crash"), nil }}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var cells, broken []string
		for _, c := range r.Cells {
			cells = append(cells, c.Fault+"/"+c.Guards)
		}
		if got := strings.Join(cells, " "); got != tt.want || p.Cells() != len(cells) {
			t.Errorf("%v: cells are %s, want %s", tt.guards, got, tt.want)
		}
		for _, b := range r.Broken {
			broken = append(broken, b.Job.Fault+"/"+b.Job.Guards)
		}
		for _, c := range cells {
			if promised := strings.HasPrefix(c, "master-crash") || c == "flushall/on"; slices.Contains(broken, c) != promised {
				t.Errorf("%v: broken are %v", tt.guards, broken)
			}
		}
	}
}

func TestRunWithFailures(t *testing.T) {
	died := errors.New("died")
	r, err := compare.Run(t.Context(), plan(), lab{func(j compare.Job) (history.Run, error) {
		if j.Fault == "pause" && j.Mode == "single" {
			return history.Run{}, died
		}
		return good(j, false), nil
	}}, nil, nil)
	if err != nil || r.Runs != 9 || len(r.Failed) != 3 || !errors.Is(r.Failed[2].Err, died) || r.Failed[2].Job.Seed != 12 || len(r.Cells) != 3 {
		t.Errorf("error %v, result %+v", err, r)
	}
}

func TestRunGivesUp(t *testing.T) {
	p := plan()
	p.Runs = 1000
	r, err := compare.Run(t.Context(), p, lab{func(compare.Job) (history.Run, error) {
		return history.Run{}, errors.New("died")
	}}, nil, nil)
	if err != nil || !r.GaveUp || r.Interrupted || len(r.Failed) != 20 {
		t.Errorf("error %v, gave up %v after %d", err, r.GaveUp, len(r.Failed))
	}
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	r, err := compare.Run(ctx, plan(), lab{func(j compare.Job) (history.Run, error) {
		if n++; n == 5 {
			cancel()
		}
		return good(j, false), nil
	}}, nil, nil)
	if err != nil || !r.Interrupted || r.Runs != 5 {
		t.Errorf("error %v, interrupted %v after %d", err, r.Interrupted, r.Runs)
	}
}

func TestRunStopsWhenTheSinkFails(t *testing.T) {
	full := errors.New("disk full")
	calls := 0
	_, err := compare.Run(t.Context(), plan(), lab{func(j compare.Job) (history.Run, error) { return good(j, false), nil }}, nil,
		func(history.Run, measure.Figures) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}

// scripted is a schedule.
var scripted = fault.Schedule{Name: "scripted", Path: "my faults.yaml", Steps: []fault.Step{{Fault: "pause", For: 1.5}, {After: 0.3, Fault: "flushall"}}}

// TestSchedules: they are cells like faults, with both guards where those matter.
func TestSchedules(t *testing.T) {
	p := plan()
	p.Faults, p.Schedules, p.Renew, p.Link, p.Loss, p.Drift, p.TTL = nil, []fault.Schedule{scripted}, 200*time.Millisecond, "zone", 0.05, 0.5, 2*time.Second
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	jobs := p.Jobs()
	if p.Cells() != 4 || len(jobs) != 12 {
		t.Fatalf("%d cells, %d jobs", p.Cells(), len(jobs))
	}
	j := jobs[1]
	if j.Fault != "scripted" || j.Guards != "off" || j.Schedule == nil || virtual.Spec(j).Validate() != nil {
		t.Errorf("job is %+v", j)
	}
	want := "incumbent replay 10 --mode single --schedule 'my faults.yaml' --guards off --ttl 2s --candidates 3 --renew 200ms --link zone --loss 0.05 --drift 0.5"
	if got := j.Command(virtual.Lab); got != want {
		t.Errorf("replay with %q, want %q", got, want)
	}
	// Where no seed plays a run again, it is one more of that kind.
	want = "incumbent compare --lab local --seed 10 --runs 1 --modes quorum3 --faults crash --guards on --ttl 2s --candidates 3"
	if got := (compare.Job{Seed: 10, Mode: "quorum", Masters: 3, Fault: "crash", Guards: "on", TTL: 2 * time.Second, Candidates: 3}).Command("local"); got != want {
		t.Errorf("play again with %q, want %q", got, want)
	}
	// The steps of its runs say what a cell promises.
	r, err := compare.Run(t.Context(), p, lab{func(j compare.Job) (history.Run, error) {
		run := good(j, false)
		run.Steps = []string{"pause", "flushall"}
		return run, nil
	}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cells {
		if c.Promise().Belief != (c.Guards == "on") {
			t.Errorf("guards %s: it promises %+v", c.Guards, c.Promise())
		}
	}
}

// TestRunsOf: some faults may have more runs than others, with the same first seeds.
func TestRunsOf(t *testing.T) {
	p := plan()
	p.Runs, p.RunsOf = 2, map[string]int{"crash": 5}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	count, last := map[string]int{}, uint64(0)
	for _, j := range p.Jobs() {
		count[j.Fault]++
		last = max(last, j.Seed)
	}
	cells := p.Cells() / len(p.Faults)
	if count["crash"] != 5*cells || count["pause"] != 2*cells || last != p.Seed+4 {
		t.Errorf("runs %v in %d cells a fault, last seed %d", count, cells, last)
	}
	if p.Total() != 7*cells || p.LeastRuns() != 2 || p.MostRuns() != 5 {
		t.Errorf("%d in all, %d to %d", p.Total(), p.LeastRuns(), p.MostRuns())
	}
}

func TestPlanValidate(t *testing.T) {
	if err := plan().Validate(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		change func(*compare.Plan)
		want   string
	}{
		{func(p *compare.Plan) { p.Runs = 0 }, "runs: 0: must be from 1"},
		{func(p *compare.Plan) { p.RunsOf = map[string]int{"crash": 0} }, "runs-of: crash=0: must be of a fault"},
		{func(p *compare.Plan) { p.RunsOf = map[string]int{"flood": 3} }, "runs-of: flood=3: must be of a fault"},
		{func(p *compare.Plan) { p.TTL = 2 * time.Hour }, "ttl: 2h0m0s: must be from 100ms"},
		{func(p *compare.Plan) { p.TTL++ }, "ttl: 1.000000001s: must be a whole"},
		{func(p *compare.Plan) { p.Candidates = 51 }, "candidates: 51: must be from 2 to 50"},
		{func(p *compare.Plan) { p.Renew = time.Second }, "renew: 1s: must be from 1ms to a third of the TTL"},
		{func(p *compare.Plan) { p.Link = "moon" }, `link: "moon": must be of lan, zone, wan`},
		{func(p *compare.Plan) { p.Link = "wan" }, "ttl: 1s: must be at least 3s on a link like wan"},
		{func(p *compare.Plan) { p.Loss = -1 }, "loss: -1: must be from 0 to 0.2"},
		{func(p *compare.Plan) { p.Drift = 2 }, "drift: 2: must be from 0 to 1 per cent"},
		{func(p *compare.Plan) { p.Schedules = []fault.Schedule{{Name: "x", Path: "x.yaml"}} }, "schedule: x.yaml: steps: 0 of them"},
		{func(p *compare.Plan) { p.Schedules = []fault.Schedule{scripted, scripted} }, "schedule: scripted: must be named once"},
		{func(p *compare.Plan) { p.Modes = nil }, "modes: none"},
		{func(p *compare.Plan) { p.Faults = nil }, "faults: none"},
		{func(p *compare.Plan) { p.Modes[1] = p.Modes[0] }, "modes: single: must be named once"},
		{func(p *compare.Plan) { p.Faults[1] = p.Faults[0] }, "faults: pause: must be named once"},
		{func(p *compare.Plan) { p.Faults[1] = "flood" }, `faults: "flood": must be of calm`},
		{func(p *compare.Plan) { p.Guards = []string{"on", "none"} }, `guards: "none": must be of on, off`},
		{func(p *compare.Plan) { p.Guards = []string{"on", "on"} }, "guards: on: must be named once"},
	} {
		p := plan()
		tt.change(&p)
		err := p.Validate()
		var field *compare.FieldError
		if !errors.As(err, &field) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("error is %v, want %q", err, tt.want)
		}
		if _, err := compare.Run(t.Context(), p, lab{}, nil, nil); err == nil {
			t.Errorf("%q was played", tt.want)
		}
	}
}

// TestLimitsAgree: what a plan allows the virtual lab can play.
func TestLimitsAgree(t *testing.T) {
	for _, ttl := range []time.Duration{compare.MinTTL, compare.MaxTTL} {
		for _, n := range []int{compare.MinCandidates, compare.MaxCandidates} {
			for _, m := range []string{"single", "quorum3", "quorum9"} {
				mode, err := compare.ParseMode(m)
				if err != nil {
					t.Fatal(err)
				}
				p := compare.Plan{Runs: 1, TTL: ttl, Candidates: n, Modes: []compare.Mode{mode}, Faults: fault.Names()}
				if err := p.Validate(); err != nil {
					t.Error(err)
				}
				for _, j := range p.Jobs() {
					if err := virtual.Spec(j).Validate(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, s := range []string{"single", "quorum3", "quorum5", "quorum9"} {
		if m, err := compare.ParseMode(s); err != nil || m.String() != s {
			t.Errorf("ParseMode(%q) = %v, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "quorum", "quorum1", "quorum4", "quorum11", "quorum03x", "5", "Single"} {
		if m, err := compare.ParseMode(s); err == nil {
			t.Errorf("ParseMode(%q) = %v", s, m)
		}
	}
}
