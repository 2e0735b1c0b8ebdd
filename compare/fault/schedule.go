package fault

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

// A Schedule is several faults in one run.
type Schedule struct {
	// Name is how tables call it: lower-case letters, digits and hyphens, and no
	// name of a fault or of a group.
	Name string `json:"name" yaml:"name"`
	// Steps are played in this order.
	Steps []Step `json:"steps" yaml:"steps"`
	// Path is the file that it was read from, for the command that plays it again.
	Path string `json:"path,omitempty" yaml:"-"`
}

// A Step is one fault of a schedule.
type Step struct {
	// After is how many TTLs after the step before it strikes; of the first step,
	// after the run is ready.
	After float64 `json:"after,omitempty" yaml:"after"`
	// Fault is the name of the fault. It strikes as soon as somebody leads; where
	// nobody does for long, or it finds no target, it is skipped. A fault of the
	// store strikes at once, and cuts the leader off from no other masters; one that
	// brings old data back first lets the data become old.
	Fault string `json:"fault" yaml:"fault"`
	// For is after how many TTLs it is healed; 0 means the fault's own length.
	For float64 `json:"for,omitempty" yaml:"for"`
}

// Limits of a schedule.
const (
	MaxSteps = 50
	// MaxLength bounds After and For of all steps together, in TTLs.
	MaxLength = 200.0
)

// A FieldError says which field of a schedule is wrong, its value, and the rule.
type FieldError struct {
	// Field is name, steps, or such as steps[2].fault.
	Field string
	Value any
	Rule  string
	// Path and Line say where it stands; "" and 0 where it comes from no file.
	Path string
	Line int
}

// Error gives place, field, value and rule.
func (e *FieldError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	if e.Value != nil {
		fmt.Fprintf(&b, "%v: ", e.Value)
	}
	return b.String() + e.Rule
}

var scheduleName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const maxName = 40

// Validate checks all fields. The error is a *FieldError.
func (s Schedule) Validate() error {
	_, err := ByName(s.Name)
	switch {
	case len(s.Name) > maxName || !scheduleName.MatchString(s.Name):
		return &FieldError{Field: "name", Value: fmt.Sprintf("%q", s.Name), Rule: fmt.Sprintf("must be lower-case letters, digits and single hyphens, at most %d", maxName)}
	case err == nil || Group(s.Name) != nil:
		return &FieldError{Field: "name", Value: s.Name, Rule: "must not be that of a fault or a group of faults"}
	case len(s.Steps) == 0 || len(s.Steps) > MaxSteps:
		return &FieldError{Field: "steps", Value: fmt.Sprintf("%d of them", len(s.Steps)), Rule: fmt.Sprintf("must be 1 to %d", MaxSteps)}
	}
	length := 0.0
	for i, step := range s.Steps {
		if err := step.validate(fmt.Sprintf("steps[%d]", i)); err != nil {
			return err
		}
		length += step.After + step.For
	}
	if length > MaxLength {
		return &FieldError{Field: "steps", Value: fmt.Sprintf("%g TTLs in all", length), Rule: fmt.Sprintf("must be at most %g", MaxLength)}
	}
	return nil
}

func (s Step) validate(at string) error {
	f, err := ByName(s.Fault)
	switch {
	case err != nil || f.Name == Random:
		return &FieldError{Field: at + ".fault", Value: fmt.Sprintf("%q", s.Fault), Rule: "must be one of " + strings.Join(steps(), ", ")}
	case !(s.After >= 0) || math.IsInf(s.After, 1):
		return &FieldError{Field: at + ".after", Value: s.After, Rule: "must be a number of TTLs, 0 or more"}
	case !(s.For >= 0) || math.IsInf(s.For, 1):
		return &FieldError{Field: at + ".for", Value: s.For, Rule: "must be a number of TTLs, 0 or more"}
	case s.For > 0 && f.Most == 0:
		return &FieldError{Field: at + ".for", Value: s.For, Rule: f.Name + " is over at once: leave it out"}
	}
	return nil
}

// steps lists the faults that a schedule can have.
func steps() (names []string) {
	for _, f := range All() {
		if f.Name != Random {
			names = append(names, f.Name)
		}
	}
	return names
}

// Fault makes one fault of a valid schedule. It needs a [Stage], announces its steps
// itself, and returns when all of them are healed.
func (s Schedule) Fault() Fault {
	f := worst(s.Steps)
	f.Name, f.About = s.Name, s.about()
	f.Store = true
	f.Strike = onStage(func(w Stage) error { return (&player{Stage: w, exact: true}).play(s.Steps) })
	return f
}

// about lists the steps in a line.
func (s Schedule) about() string {
	var names []string
	for _, step := range s.Steps {
		names = append(names, step.Fault)
	}
	text := "a schedule: " + strings.Join(names, ", ")
	if max := 78 - len(s.Name); len(text) > max {
		text = fmt.Sprintf("a schedule of %d faults", len(s.Steps))
	}
	return text
}

// worst has what steps do together.
func worst(steps []Step) (all Fault) {
	for _, step := range steps {
		f, err := ByName(step.Fault)
		if err != nil {
			continue // Validate has refused it
		}
		all.Danger = max(all.Danger, f.Danger)
		all.Acks = max(all.Acks, f.Acks)
		all.Stalls = all.Stalls || f.Stalls
		all.Kills += f.Kills
		all.Loses += f.Loses
		all.Replaces += f.Replaces
		all.SetsClock = all.SetsClock || f.SetsClock
	}
	return all
}

// Together is what faults of these names do in one run: the worst of each. Names that
// are unknown do nothing.
func Together(names []string) Fault {
	list := make([]Step, len(names))
	for i, name := range names {
		list[i].Fault = name
	}
	return worst(list)
}

// onStage is the Strike of a schedule.
func onStage(play func(w Stage) error) func(World) (func() error, error) {
	return func(w World) (func() error, error) {
		s, ok := w.(Stage)
		if !ok {
			return nil, fmt.Errorf("a schedule: %w", ErrUnsupported)
		}
		return nil, play(s)
	}
}
