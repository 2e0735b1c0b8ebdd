package planted

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
)

// bug is one deliberate mistake.
type bug struct {
	name string
	// rule is what it breaks: R1 to R14 of docs/protocol.md, or an invariant.
	rule string
	// about says in one line what it does, seen where it was met in real life.
	about, seen string
	// by are the checks that may find it; any one will do.
	by []string
	// plays are the runs in which it is looked for: each with seeds from 1 on, up
	// to so many.
	plays []virtual.Spec
	seeds int
	// tests are unit tests that find it, where no run can: a package below the
	// module's root, and a pattern for its tests.
	tests []unit
	hunks []hunk
}

// unit names tests of one package.
type unit struct{ pkg, run string }

// hunk is one change of one file.
type hunk struct{ file, old, new string }

//go:embed bugs
var bugFiles embed.FS

// bugs reads all bugs, in the order of their names.
func bugs() ([]bug, error) {
	var list []bug
	err := fs.WalkDir(bugFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := bugFiles.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := parseBug(strings.TrimSuffix(d.Name(), ".bug"), string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, b)
		return nil
	})
	return list, err
}

// section is the line before each part of a file: "-- old FILE --" or "-- new --".
var section = regexp.MustCompile(`(?m)^-- (old|new)(?: (\S+))? --\n`)

// parseBug reads a file: fields, a line each, then pairs of old and new text.
func parseBug(name, text string) (bug, error) {
	b := bug{name: name, seeds: defaultSeeds}
	marks := section.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 || len(marks)%2 != 0 {
		return b, errors.New("wants pairs of old and new text")
	}
	for line := range strings.Lines(text[:marks[0][0]]) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return b, fmt.Errorf("line %q: must be a field, a colon and its value", line)
		}
		if err := b.set(key, value); err != nil {
			return b, fmt.Errorf("field %s: %w", key, err)
		}
	}
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		body := strings.TrimSpace(text[m[1]:end])
		switch kind := text[m[2]:m[3]]; {
		case kind == "old" && i%2 == 0 && m[4] >= 0:
			b.hunks = append(b.hunks, hunk{file: text[m[4]:m[5]], old: body})
		case kind == "new" && i%2 == 1 && m[4] < 0:
			b.hunks[len(b.hunks)-1].new = body
		default:
			return b, fmt.Errorf("section %q: old, with a file, and new must alternate", strings.TrimSpace(text[m[0]:m[1]]))
		}
	}
	return b, b.complete()
}

// set reads one field.
func (b *bug) set(key, value string) error {
	switch key {
	case "rule":
		b.rule = value
	case "about":
		b.about = value
	case "seen":
		b.seen = value
	case "by":
		b.by = append(b.by, value)
	case "test":
		pkg, run, ok := strings.Cut(value, " ")
		if !ok {
			return errors.New("must be a package and a pattern")
		}
		b.tests = append(b.tests, unit{pkg, run})
	case "seeds":
		n, err := strconv.Atoi(value)
		b.seeds = n
		return err
	case "play":
		s, err := parsePlay(value)
		b.plays = append(b.plays, s)
		return err
	default:
		return errors.New("there is no such field")
	}
	return nil
}

// complete says what is missing.
func (b *bug) complete() error {
	switch {
	case b.rule == "" || b.about == "":
		return errors.New("rule and about must be there")
	case (len(b.plays) > 0) == (len(b.tests) > 0):
		return errors.New("must have either plays or tests")
	case (len(b.plays) > 0) != (len(b.by) > 0):
		return errors.New("by names the checks on plays")
	}
	for _, name := range b.by {
		if _, ok := findCheck(name); !ok {
			return fmt.Errorf("by %q: there is no such check", name)
		}
	}
	return nil
}

// What a play is unless it says otherwise.
const (
	defaultSeeds      = 40
	defaultTTL        = 2 * time.Second
	defaultCandidates = 3
)

// scheduleName is that of all schedules of this package.
const scheduleName = "planted"

// parseSteps reads a schedule: faults with a plus between them, each with an @ and
// after how many TTLs it strikes, if not at once.
func parseSteps(text string) (*fault.Schedule, error) {
	s := &fault.Schedule{Name: scheduleName}
	for word := range strings.SplitSeq(text, "+") {
		name, after, ok := strings.Cut(word, "@")
		step := fault.Step{Fault: name}
		if ok {
			var err error
			if step.After, err = strconv.ParseFloat(after, 64); err != nil {
				return nil, err
			}
		}
		s.Steps = append(s.Steps, step)
	}
	return s, s.Validate()
}

// stepsName is a schedule as parseSteps reads it.
func stepsName(s *fault.Schedule) string {
	var words []string
	for _, step := range s.Steps {
		words = append(words, fmt.Sprintf("%s@%g", step.Fault, step.After))
	}
	return strings.Join(words, "+")
}

// parsePlay reads "FAULT MODE GUARDS", followed by parameters such as candidates=20.
func parsePlay(text string) (virtual.Spec, error) {
	s := virtual.Spec{TTL: defaultTTL, Candidates: defaultCandidates}
	f := strings.Fields(text)
	if len(f) < 3 {
		return s, errors.New("must be a fault, a mode, on or off, and parameters")
	}
	s.Fault, s.Guards = f[0], f[2]
	if strings.ContainsAny(f[0], "+@") {
		var err error
		if s.Schedule, err = parseSteps(f[0]); err != nil {
			return s, err
		}
		s.Fault = s.Schedule.Name
	}
	s.Mode, s.Masters = "single", 1
	if n, ok := strings.CutPrefix(f[1], "quorum"); ok {
		s.Mode = "quorum"
		var err error
		if s.Masters, err = strconv.Atoi(n); err != nil {
			return s, err
		}
	} else if f[1] != "single" {
		return s, fmt.Errorf("mode %q: must be single, or quorum with a number", f[1])
	}
	for _, p := range f[3:] {
		if err := setParam(&s, p); err != nil {
			return s, fmt.Errorf("%q: %w", p, err)
		}
	}
	return s, s.Validate()
}

// setParam reads one parameter of a play.
func setParam(s *virtual.Spec, text string) (err error) {
	key, value, _ := strings.Cut(text, "=")
	switch key {
	case "candidates":
		s.Candidates, err = strconv.Atoi(value)
	case "ttl":
		s.TTL, err = time.ParseDuration(value)
	case "renew":
		s.Renew, err = time.ParseDuration(value)
	case "link":
		s.Link = value
	case "loss":
		s.Loss, err = strconv.ParseFloat(value, 64)
	case "drift":
		s.Drift, err = strconv.ParseFloat(value, 64)
	default:
		err = errors.New("there is no such parameter")
	}
	return err
}

// playName is a play as parsePlay reads it.
func playName(s virtual.Spec) string {
	mode := s.Mode
	if mode == "quorum" {
		mode += strconv.Itoa(s.Masters)
	}
	guards := s.Guards
	if guards == "" {
		guards = history.GuardsOn
	}
	name := s.Fault + " " + mode + " " + guards
	if s.Schedule != nil {
		name = stepsName(s.Schedule) + " " + mode + " " + guards
	}
	if s.Candidates != defaultCandidates {
		name += fmt.Sprintf(" candidates=%d", s.Candidates)
	}
	if s.TTL != defaultTTL {
		name += fmt.Sprintf(" ttl=%s", s.TTL)
	}
	if s.Renew > 0 {
		name += fmt.Sprintf(" renew=%s", s.Renew)
	}
	if s.Link != "" {
		name += " link=" + s.Link
	}
	if s.Loss > 0 {
		name += fmt.Sprintf(" loss=%g", s.Loss)
	}
	if s.Drift > 0 {
		name += fmt.Sprintf(" drift=%g", s.Drift)
	}
	return name
}
