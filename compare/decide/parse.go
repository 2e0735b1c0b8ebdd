package decide

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Error says which part of an SLO is wrong, its value, and the rule.
type Error struct {
	// Field is the key, or what stands where a key should; "" for the whole.
	Field, Value, Rule string
}

// Error gives field, value and rule.
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("slo: %s: %s", clipped(e.Value), e.Rule)
	}
	name := strings.Trim(clipped(e.Field), `"`)
	return fmt.Sprintf("slo: %s: %s: %s", name, clipped(e.Value), e.Rule)
}

// maxShown is how much of a value is shown.
const maxShown = 60

func clipped(s string) string {
	if len(s) > maxShown {
		return fmt.Sprintf("%q...", s[:maxShown])
	}
	return strconv.Quote(s)
}

// A field is a key of an SLO.
type field struct {
	key, sign, example, about string
	// limit says that <= may be written for =.
	limit bool
	read  func(s *SLO, text string) error // the error is the rule
	show  func(s *SLO) (text string, set bool)
}

// fields are all of them, in the order of String.
var fields = []field{
	span(Failover, "10s", "longest time without a working leader after a crash of the leader", time.Nanosecond,
		func(s *SLO) *Limit[time.Duration] { return &s.Failover }),
	span(Handover, "100ms", "longest time without a working leader after a resignation", time.Nanosecond,
		func(s *SLO) *Limit[time.Duration] { return &s.Handover }),
	span(Leaderless, "5s", "longest time without a leader after one master has restarted", 0,
		func(s *SLO) *Limit[time.Duration] { return &s.Leaderless }),
	span(Overlap, "0", "longest time two lead, under the faults leases and guards rule out", 0,
		func(s *SLO) *Limit[time.Duration] { return &s.Overlap }),
	choice(Fence, wordYes, wordNo, "whether the resource compares tokens (yes or no)", func(s *SLO) *Answer { return &s.Fence }),
	{Servers, "<=", "3", "how many Redis servers there may be", true, readServers,
		func(s *SLO) (string, bool) { return strconv.Itoa(s.Servers.Max), s.Servers.Set }},
	{Commands, "<=", "20", "commands a second of all candidates together", true, readCommands,
		func(s *SLO) (string, bool) { return number(s.Commands.Max), s.Commands.Set }},
	choice(Survive, wordSurvive, wordStop, "whether it must go on without any one master, or may stop", func(s *SLO) *Answer { return &s.Survive }),
}

// Keys lists the keys that Parse knows.
func Keys() []string {
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	return keys
}

// Parse reads requirements that are separated by commas, such as
// failover=10s,overlap=0,fence=yes,servers<=3. In limits = and <= mean the same; spaces
// may stand anywhere but within words and numbers. The error is an *Error, for the first thing that is
// wrong.
func Parse(s string) (SLO, error) {
	var slo SLO
	if strings.TrimSpace(s) == "" {
		return SLO{}, &Error{"", s, "must ask for something, such as failover=10s,overlap=0,fence=yes"}
	}
	var seen []string
	for item := range strings.SplitSeq(s, ",") {
		key, err := slo.parse(item)
		if err != nil {
			return SLO{}, err
		}
		if slices.Contains(seen, key) {
			return SLO{}, &Error{key, strings.TrimSpace(item), "must be given once"}
		}
		seen = append(seen, key)
	}
	return slo, nil
}

// parse reads one requirement and returns its key.
func (s *SLO) parse(item string) (string, error) {
	item = strings.TrimSpace(item)
	at := strings.IndexAny(item, "<=>")
	if at < 0 {
		return "", &Error{"", item, "must be a key and a value, such as failover=10s"}
	}
	key := strings.ToLower(strings.TrimSpace(item[:at]))
	i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
	if i < 0 {
		return "", &Error{key, item, unknown(key)}
	}
	sign, text := cutSign(item[at:])
	text = strings.TrimSpace(text)
	f := fields[i]
	switch {
	case sign != "=" && sign != "<=":
		return "", &Error{key, item, "must be followed by " + f.signs()}
	case sign == "<=" && !f.limit:
		return "", &Error{key, item, "is no limit: must be followed by ="}
	case text == "":
		return "", &Error{key, text, "must have a value, such as " + f.example}
	}
	if err := f.read(s, text); err != nil {
		return "", &Error{key, text, err.Error()}
	}
	return key, nil
}

// cutSign takes all signs from the front of s.
func cutSign(s string) (sign, rest string) {
	rest = strings.TrimLeft(s, "<=>")
	return s[:len(s)-len(rest)], rest
}

func (f field) signs() string {
	if f.limit {
		return "= or <="
	}
	return "="
}

// unknown is the rule that an unknown key breaks.
func unknown(key string) string {
	rule := "must be one of " + strings.Join(Keys(), ", ")
	if near := nearest(key, Keys()); near != "" {
		rule += "; " + near + " is nearest"
	}
	return rule
}

// span is a field with a limit in time, which is at least least.
func span(key, example, about string, least time.Duration, of func(*SLO) *Limit[time.Duration]) field {
	return field{key, "=", example, about, true,
		func(s *SLO, text string) error {
			d, err := readSpan(text)
			switch {
			case err != nil:
				return err
			case d < 0:
				return errors.New("must not be negative")
			case d < least:
				return errors.New("must be more than 0: nothing takes no time")
			}
			*of(s) = Limit[time.Duration]{true, d}
			return nil
		},
		func(s *SLO) (string, bool) { return duration(of(s).Max), of(s).Set },
	}
}

// readSpan reads a duration, which may be 0 without a unit.
func readSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	if _, bare := strconv.ParseFloat(text, 64); bare == nil {
		return 0, errors.New("must have a unit, such as 10s, 500ms or 2m")
	}
	return 0, errors.New("must be a duration, such as 10s, 500ms or 2m")
}

// choice is a field with one of two answers.
func choice(key, yes, no, about string, of func(*SLO) *Answer) field {
	return field{key, "=", yes, about, false,
		func(s *SLO, text string) error {
			switch strings.ToLower(text) {
			case yes:
				*of(s) = Yes
			case no:
				*of(s) = No
			default:
				return fmt.Errorf("must be %s or %s", yes, no)
			}
			return nil
		},
		func(s *SLO) (string, bool) { return map[Answer]string{Yes: yes, No: no}[*of(s)], *of(s) != Unsaid },
	}
}

func readServers(s *SLO, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("must be a whole number from 1 on")
	}
	s.Servers = Limit[int]{true, n}
	return nil
}

func readCommands(s *SLO, text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return errors.New("must be a number of commands a second, more than 0")
	}
	s.Commands = Limit[float64]{true, v}
	return nil
}
