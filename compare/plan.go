package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
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
	MaxCandidates = 20
	MinTTL        = 100 * time.Millisecond
	MaxTTL        = time.Hour
)

// Validate checks all fields. The error is a *FieldError.
func (p Plan) Validate() error {
	switch {
	case p.Runs < 1 || p.Runs > MaxRuns:
		return &FieldError{"runs", p.Runs, fmt.Sprintf("must be from 1 to %d", MaxRuns)}
	case p.TTL < MinTTL || p.TTL > MaxTTL:
		return &FieldError{"ttl", p.TTL, fmt.Sprintf("must be from %s to %s", MinTTL, MaxTTL)}
	case p.TTL%time.Millisecond != 0:
		return &FieldError{"ttl", p.TTL, "must be a whole number of milliseconds"}
	case p.Candidates < MinCandidates || p.Candidates > MaxCandidates:
		return &FieldError{"candidates", p.Candidates, fmt.Sprintf("must be from %d to %d", MinCandidates, MaxCandidates)}
	case len(p.Modes) == 0:
		return &FieldError{"modes", "none", "must name at least one"}
	case len(p.Faults) == 0:
		return &FieldError{"faults", "none", "must name at least one"}
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
	return p.validateGuards()
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
func (p Plan) guardsOf(name string) []string {
	if len(p.Guards) > 0 {
		return p.Guards
	}
	if f, err := fault.ByName(name); err == nil && f.Danger != fault.Harmless {
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
	for _, f := range p.Faults {
		for _, m := range p.Modes {
			for _, g := range p.guardsOf(f) {
				list = append(list, Job{p.Seed, m.Kind, m.Masters, f, g, p.TTL, p.Candidates})
			}
		}
	}
	return list
}

// A Job is one run.
type Job struct {
	Seed       uint64
	Mode       string
	Masters    int
	Fault      string
	Guards     string
	TTL        time.Duration
	Candidates int
}

// Jobs lists all runs, those of one seed together: whoever stops early has about
// the same number of each cell.
func (p Plan) Jobs() []Job {
	cells := p.cells()
	jobs := make([]Job, 0, p.Runs*len(cells))
	for i := range p.Runs {
		for _, j := range cells {
			j.Seed += uint64(i)
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// Command is what plays one job again.
func (j Job) Command() string {
	return fmt.Sprintf("incumbent compare --seed %d --runs 1 --modes %s --faults %s --guards %s --ttl %s --candidates %d --out replay",
		j.Seed, Mode{j.Mode, j.Masters}, j.Fault, j.Guards, j.TTL, j.Candidates)
}
