package compare

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/compare/lab/virtual"
)

// A Mode is single, or quorum with a number of masters.
type Mode struct {
	// Kind is single or quorum.
	Kind string
	// Masters is 1 in single mode.
	Masters int
}

// String is the mode as flags and tables name it: single, quorum3, quorum5.
func (m Mode) String() string {
	if m.Kind == "single" {
		return m.Kind
	}
	return m.Kind + strconv.Itoa(m.Masters)
}

// maxMasters bounds what a lab is asked to simulate or start.
const maxMasters = 9

// ParseMode reads what String writes.
func ParseMode(s string) (Mode, error) {
	if s == "single" {
		return Mode{"single", 1}, nil
	}
	digits, ok := strings.CutPrefix(s, "quorum")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 3 || n > maxMasters || n%2 == 0 {
		return Mode{}, fmt.Errorf("%q: must be single, or quorum with an odd number of masters from 3 to %d, such as quorum3", s, maxMasters)
	}
	return Mode{"quorum", n}, nil
}

// A Plan says what to play: every fault in every mode, with guards of the store on,
// off or both, Runs times. The seeds are Seed, Seed+1 and so on, the same for each
// cell.
type Plan struct {
	Seed uint64
	// Runs is how many runs a cell has.
	Runs int
	// RunsOf is how many the cells of some faults have instead, by the fault's name. nil
	// means that all have Runs.
	RunsOf map[string]int
	// TTL of leases.
	TTL time.Duration
	// Modes and Faults have no doubles.
	Modes  []Mode
	Faults []string
	// Guards are those to play with: on, off or both. None means both for faults
	// that can put two leaders side by side, and on for others.
	Guards []string
	// Candidates is how many take part.
	Candidates int
	// Schedules are played after the faults. Their names have no doubles.
	Schedules []fault.Schedule
	// Renew, Link, Loss and Drift are as in [virtual.Spec].
	Renew time.Duration
	Link  string
	Loss  float64
	Drift float64
}

// A FieldError says which field of a plan is wrong, its value, and the rule.
type FieldError struct {
	Field string
	Value any
	Rule  string
}

// Error gives field, value and rule.
func (e *FieldError) Error() string { return fmt.Sprintf("%s: %v: %s", e.Field, e.Value, e.Rule) }

// Limits of a plan.
const (
	MaxRuns       = 100_000
	MinCandidates = 2
	MaxCandidates = 50
	MinTTL        = 100 * time.Millisecond
	MaxTTL        = time.Hour
)

// Validate checks all fields. The error is a *FieldError.
func (p Plan) Validate() error {
	switch {
	case p.Runs < 1 || p.Runs > MaxRuns:
		return &FieldError{"runs", p.Runs, fmt.Sprintf("must be from 1 to %d", MaxRuns)}
	case p.wrongRunsOf() != "":
		return &FieldError{"runs-of", p.wrongRunsOf(), fmt.Sprintf("must be of a fault that is played, and from 1 to %d", MaxRuns)}
	case p.TTL < MinTTL || p.TTL > MaxTTL:
		return &FieldError{"ttl", p.TTL, fmt.Sprintf("must be from %s to %s", MinTTL, MaxTTL)}
	case p.TTL%time.Millisecond != 0:
		return &FieldError{"ttl", p.TTL, "must be a whole number of milliseconds"}
	case p.Candidates < MinCandidates || p.Candidates > MaxCandidates:
		return &FieldError{"candidates", p.Candidates, fmt.Sprintf("must be from %d to %d", MinCandidates, MaxCandidates)}
	case len(p.Modes) == 0:
		return &FieldError{"modes", "none", "must name at least one"}
	case len(p.Faults)+len(p.Schedules) == 0:
		return &FieldError{"faults", "none", "must name at least one"}
	}
	if err := p.validateConditions(); err != nil {
		return err
	}
	for i, m := range p.Modes {
		if slices.Contains(p.Modes[:i], m) {
			return &FieldError{"modes", m, "must be named once"}
		}
	}
	for i, f := range p.Faults {
		if _, err := fault.ByName(f); err != nil {
			return &FieldError{"faults", strconv.Quote(f), "must be of " + strings.Join(fault.Names(), ", ")}
		}
		if slices.Contains(p.Faults[:i], f) {
			return &FieldError{"faults", f, "must be named once"}
		}
	}
	for i, s := range p.Schedules {
		if err := s.Validate(); err != nil {
			return &FieldError{"schedule", s.Path, err.Error()}
		}
		if slices.ContainsFunc(p.Schedules[:i], func(o fault.Schedule) bool { return o.Name == s.Name }) {
			return &FieldError{"schedule", s.Name, "must be named once"}
		}
	}
	return p.validateGuards()
}

// wrongRunsOf is the first entry of RunsOf that makes no sense.
func (p Plan) wrongRunsOf() string {
	for _, name := range slices.Sorted(maps.Keys(p.RunsOf)) {
		if n := p.RunsOf[name]; n < 1 || n > MaxRuns || !slices.Contains(p.Faults, name) {
			return fmt.Sprintf("%s=%d", name, n)
		}
	}
	return ""
}

// runsOf is how many runs a cell of the fault has.
func (p Plan) runsOf(name string) int {
	if n, ok := p.RunsOf[name]; ok {
		return n
	}
	return p.Runs
}

// LeastRuns and MostRuns are how many runs the cells have that have fewest and most. Runs
// of a cell have the seeds from Seed on.
func (p Plan) LeastRuns() int {
	least := math.MaxInt
	for _, c := range p.cells() {
		least = min(least, p.runsOf(c.Fault))
	}
	return least
}

// MostRuns is described at LeastRuns.
func (p Plan) MostRuns() int {
	most := 0
	for _, c := range p.cells() {
		most = max(most, p.runsOf(c.Fault))
	}
	return most
}

// Total is how many runs there are in all.
func (p Plan) Total() (total int) {
	for _, c := range p.cells() {
		total += p.runsOf(c.Fault)
	}
	return total
}

func (p Plan) validateConditions() error {
	err := virtual.Conditions{Renew: p.Renew, Link: p.Link, Loss: p.Loss, Drift: p.Drift}.Validate(p.TTL)
	var c *virtual.ConditionError
	if errors.As(err, &c) {
		return &FieldError{c.Field, c.Value, c.Rule}
	}
	return err
}

func (p Plan) validateGuards() error {
	for i, g := range p.Guards {
		if g != history.GuardsOn && g != history.GuardsOff {
			return &FieldError{"guards", strconv.Quote(g), "must be of on, off"}
		}
		if slices.Contains(p.Guards[:i], g) {
			return &FieldError{"guards", g, "must be named once"}
		}
	}
	return nil
}

// guardsOf lists the guards that a fault is played with.
func (p Plan) guardsOf(f fault.Fault) []string {
	if len(p.Guards) > 0 {
		return p.Guards
	}
	if f.Danger != fault.Harmless {
		return []string{history.GuardsOn, history.GuardsOff}
	}
	return []string{history.GuardsOn}
}

// Cells is how many cells there are.
func (p Plan) Cells() int { return len(p.cells()) }

// cells lists a job for each cell, with the first seed, in the order of tables:
// guards within modes within faults.
func (p Plan) cells() []Job {
	var list []Job
	add := func(f fault.Fault, s *fault.Schedule) {
		for _, m := range p.Modes {
			for _, g := range p.guardsOf(f) {
				list = append(list, Job{
					Seed: p.Seed, Mode: m.Kind, Masters: m.Masters, Fault: f.Name, Guards: g, TTL: p.TTL, Candidates: p.Candidates,
					Renew: p.Renew, Link: p.Link, Loss: p.Loss, Drift: p.Drift, Schedule: s,
				})
			}
		}
	}
	for _, name := range p.Faults {
		f, err := fault.ByName(name)
		if err != nil {
			f.Name = name // Validate says so
		}
		add(f, nil)
	}
	for i, s := range p.Schedules {
		add(s.Fault(), &p.Schedules[i])
	}
	return list
}

// A Job is one run. Its fields are those of [virtual.Spec].
type Job struct {
	Seed       uint64
	Mode       string
	Masters    int
	Fault      string
	Guards     string
	TTL        time.Duration
	Candidates int
	Renew      time.Duration
	Link       string
	Loss       float64
	Drift      float64
	Schedule   *fault.Schedule
}

// Jobs lists all runs, those of one seed together: whoever stops early has about
// the same number of each cell.
func (p Plan) Jobs() []Job {
	cells := p.cells()
	jobs := make([]Job, 0, p.Total())
	for i := range p.MostRuns() {
		for _, j := range cells {
			if i < p.runsOf(j.Fault) {
				j.Seed += uint64(i)
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// realLabs have real processes, so that no seed plays a run again.
var realLabs = []string{local.Name, local.SentinelName, remote.Name}

// Command is what plays one job of a lab again: what is simulated is the same again,
// and shown; with real processes it is one more run of that kind.
func (j Job) Command(lab string) string {
	mode := Mode{j.Mode, j.Masters}.String()
	args := []string{"incumbent replay", strconv.FormatUint(j.Seed, 10), "--mode", mode}
	faults := "--fault"
	if slices.Contains(realLabs, lab) {
		args = []string{"incumbent compare --lab", lab, "--seed", strconv.FormatUint(j.Seed, 10), "--runs 1 --modes", mode}
		faults = "--faults"
	}
	if j.Schedule != nil {
		args = append(args, "--schedule", ShellWord(j.Schedule.Path))
	} else {
		args = append(args, faults, j.Fault)
	}
	args = append(args, "--guards", j.Guards, "--ttl", j.TTL.String(), "--candidates", strconv.Itoa(j.Candidates))
	if j.Renew > 0 {
		args = append(args, "--renew", j.Renew.String())
	}
	if j.Link != "" {
		args = append(args, "--link", j.Link)
	}
	if j.Loss > 0 {
		args = append(args, "--loss", strconv.FormatFloat(j.Loss, 'g', -1, 64))
	}
	if j.Drift > 0 {
		args = append(args, "--drift", strconv.FormatFloat(j.Drift, 'g', -1, 64))
	}
	return strings.Join(args, " ")
}
