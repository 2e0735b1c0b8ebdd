package virtual_test

import (
	"slices"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
)

// scheduled is a run of a schedule.
func scheduled(t *testing.T, seed uint64, mode string, masters int, steps ...fault.Step) history.Run {
	t.Helper()
	s := spec(seed, mode, masters, "scripted")
	s.Schedule = &fault.Schedule{Name: "scripted", Steps: steps}
	run := play(t, s)
	for _, v := range measure.Check(run) {
		t.Errorf("%s: %s", s, v)
	}
	return run
}

// TestSchedules: steps are announced under their own names, at their time, also while
// earlier ones last, and healed.
func TestSchedules(t *testing.T) {
	for _, m := range modes {
		for seed := range uint64(3) {
			run := scheduled(t, 1+seed, m.mode, m.masters,
				fault.Step{Fault: "pause", For: 1.5}, fault.Step{After: 0.3, Fault: "restart-empty"}, fault.Step{After: 3, Fault: "hung-master", For: 0.5})
			var struck, healed []string
			var at []time.Duration
			for _, ev := range of(run, history.Fault) {
				struck, at = append(struck, ev.Name), append(at, ev.At)
			}
			for _, ev := range of(run, history.Healed) {
				healed = append(healed, ev.Name)
			}
			want := []string{"pause", "restart-empty", "hung-master"}
			if !slices.Equal(struck, want) || !slices.Equal(run.Steps, want) || run.Fault != "scripted" {
				t.Errorf("seed %d: struck %v, steps %v of %s", run.Seed, struck, run.Steps, run.Fault)
			}
			if !slices.Contains(healed, "pause") || !slices.Contains(healed, "hung-master") || healed[len(healed)-1] == "pause" {
				t.Errorf("seed %d: healed %v", run.Seed, healed)
			}
			if d := at[1] - at[0]; d < 600*time.Millisecond || d > 5*time.Second {
				t.Errorf("seed %d: the second step comes after %s", run.Seed, d)
			}
		}
	}
}

// TestScheduleSkips: what finds nobody to strike is noted, and no step of the run.
func TestScheduleSkips(t *testing.T) {
	run := scheduled(t, 1, "single", 1, fault.Step{Fault: "master-crash"}, fault.Step{After: 1, Fault: "flushall"})
	if !slices.Equal(run.Steps, []string{"master-crash"}) {
		t.Errorf("steps are %v", run.Steps)
	}
	if !slices.ContainsFunc(of(run, history.Note), func(ev history.Event) bool {
		return ev.Actor == "lab" && ev.Name == "step 2, flushall, is skipped: it struck nobody: nobody led in time"
	}) {
		t.Errorf("notes are %+v", of(run, history.Note))
	}
}

// TestScheduleAcks: replicas acknowledge again after a step whose replica lagged.
func TestScheduleAcks(t *testing.T) {
	run := scheduled(t, 2, "quorum", 3, fault.Step{Fault: "failover-acks"}, fault.Step{After: 2, Fault: "crash"}, fault.Step{After: 2, Fault: "old-primary-acks"})
	if !slices.Equal(run.Steps, []string{"failover-acks", "crash", "old-primary-acks"}) {
		t.Errorf("steps are %v", run.Steps)
	}
}

// TestLoad: where nothing happens the lab counts what masters are asked.
func TestLoad(t *testing.T) {
	for _, m := range modes {
		run := play(t, spec(1, m.mode, m.masters, "calm"))
		l := run.Load
		if l.Span < 9*time.Second || l.Span > 11*time.Second || l.Standbys != 2 {
			t.Errorf("%s: %+v", m.mode, l)
		}
		// A renewal goes to each master about every 0.3 TTLs, a standby looks once a
		// TTL, and both say hello now and then.
		for what, c := range map[string]struct{ got, least, most float64 }{
			"leader":  {float64(l.Leader) / float64(m.masters) / l.Span.Seconds() * 2, 3, 4},
			"standby": {float64(l.Standby) / float64(m.masters) / l.Span.Seconds() * 2 / 2, 0.8, 1.6},
		} {
			if c.got < c.least || c.got > c.most {
				t.Errorf("%s: the %s costs %v commands a master and TTL", m.mode, what, c.got)
			}
		}
	}
	if run := play(t, spec(1, "single", 1, "pause")); run.Load != (history.Load{}) {
		t.Errorf("while something happens the load is %+v", run.Load)
	}
}

// TestSomebodyLeadsInTheEnd: a run does not end before, unless nobody can.
func TestSomebodyLeadsInTheEnd(t *testing.T) {
	for _, tt := range []struct {
		spec  virtual.Spec
		leads bool
	}{
		{spec(1, "single", 1, "restart-empty"), true},
		{spec(1, "quorum", 3, "master-crash"), true},
		{spec(1, "single", 1, "master-crash"), false},
	} {
		run := play(t, tt.spec)
		last := run.Events[len(run.Events)-1]
		ended := of(run, history.TermEnded)
		leads := len(ended) < len(of(run, history.TermStarted))
		if leads != tt.leads || measure.Promises(run).Lead != tt.leads {
			t.Errorf("%s: somebody leads: %v, promised: %v; the last event is %+v", tt.spec, leads, measure.Promises(run).Lead, last)
		}
	}
}
