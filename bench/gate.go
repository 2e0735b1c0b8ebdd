package bench

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Gate is a limit that an operation must keep. Make one with ParseGate.
type Gate struct {
	Op    string  // as renew
	Mode  string  // as single; empty means every mode of this library that was measured
	Unit  string  // xfloor, allocs, commands, or sec
	Limit float64 // in that unit

	text string
}

func (g Gate) String() string { return g.text }

// A GateError says why a gate cannot be understood or decided.
type GateError struct{ Gate, Text string }

func (e *GateError) Error() string { return fmt.Sprintf("%q: %s", e.Gate, e.Text) }

const gateRule = "must be OPERATION<=LIMIT or OPERATION/MODE<=LIMIT, and the limit a number with xfloor, ns, us, ms, s, allocs or commands, " +
	"as in renew/single<=2.5xfloor"

var gateForm = regexp.MustCompile(`^([a-z+]+)(?:/([a-z0-9]+))?<=([0-9]+(?:\.[0-9]+)?)([a-z]+)$`)

// timeUnits are those of limits that are times.
var timeUnits = map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}

// ParseGate reads "OPERATION[/MODE]<=LIMIT", with spaces or without. The error is a
// *GateError.
func ParseGate(text string) (Gate, error) {
	m := gateForm.FindStringSubmatch(strings.ReplaceAll(text, " ", ""))
	if m == nil {
		return Gate{}, &GateError{text, gateRule}
	}
	g := Gate{Op: m[1], Mode: m[2], Unit: m[4], text: text}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil || limit > 1e12 {
		return Gate{}, &GateError{text, "the limit is too large"}
	}
	g.Limit = limit
	switch d, ok := timeUnits[g.Unit]; {
	case ok:
		g.Unit, g.Limit = "sec", limit*d.Seconds()
	case g.Unit != "xfloor" && g.Unit != "allocs" && g.Unit != "commands":
		return Gate{}, &GateError{text, gateRule}
	}
	return g, nil
}

// A Status is how a gate decides.
type Status string

// Statuses, from good to bad.
const (
	Passed       Status = "passed"
	Inconclusive Status = "inconclusive"
	Missed       Status = "missed"
)

// An Outcome is what a gate says of one operation.
type Outcome struct {
	Gate   string `json:"gate"`
	Op     string `json:"operation"`
	Status Status `json:"status"`
	Text   string `json:"text"` // why, in words
}

// Check decides gates on a result. A time passes if even the upper end of its interval,
// made longer by the run's own noise, keeps the limit; it misses the limit if even the
// lower end, made shorter by it, does not; else it is inconclusive. Counts are those of
// the client, and exact. An operation that a gate means and that was not measured is
// not an outcome: see Match.
func Check(r *Result, gates []Gate) []Outcome {
	var outcomes []Outcome
	for _, g := range gates {
		for i := range r.Ops {
			if m := &r.Ops[i]; g.means(m.Op) {
				status, text := g.decide(r, m)
				outcomes = append(outcomes, Outcome{g.text, m.Op.String(), status, text})
			}
		}
	}
	return outcomes
}

// Match checks before anything is measured that each gate means an operation of these
// modes. The error is a *GateError.
func Match(gates []Gate, modes []Mode) error {
	ops := Ops(modes)
	for _, g := range gates {
		if slices.ContainsFunc(ops, g.means) {
			continue
		}
		var names []string
		for _, o := range ops {
			names = append(names, o.String())
		}
		return &GateError{g.text, "no such operation is measured: there are " + strings.Join(names, ", ")}
	}
	return nil
}

// means reports whether the gate is about an operation.
func (g Gate) means(o Op) bool {
	if g.Mode != "" {
		return g.Op == o.Name && g.Mode == o.Mode
	}
	return g.Op == o.Name && !strings.HasPrefix(o.Mode, "redsync")
}

// decide decides on one operation.
func (g Gate) decide(r *Result, m *Measurement) (Status, string) {
	switch g.Unit {
	case "allocs":
		return exactly(float64(m.Heap.Allocs), g.Limit, "allocations")
	case "commands":
		return exactly(m.Counts.Commands(), g.Limit, "commands a master")
	case "sec":
		return beyond(m.Time, g.Limit, m.Noise(), duration)
	}
	noise := m.Noise()
	if floor := r.Op(m.Floor, ""); floor != nil {
		noise = max(noise, floor.Noise())
	}
	return beyond(m.XFloor, g.Limit, noise, func(v float64) string { return fmt.Sprintf("%.2fx", v) })
}

func exactly(v, limit float64, what string) (Status, string) {
	if v > limit {
		return Missed, fmt.Sprintf("%g %s, at most %g", v, what, limit)
	}
	return Passed, fmt.Sprintf("%g %s", v, what)
}

// beyond compares an interval with a limit, beyond the noise.
func beyond(i Interval, limit, noise float64, show func(float64) string) (Status, string) {
	text := fmt.Sprintf("%s [%s to %s], limit %s, A/A %.1f %%", show(i.Median), show(i.Lo), show(i.Hi), show(limit), 100*noise)
	if anyNaN(i.Median, i.Lo, i.Hi, noise) {
		return Inconclusive, text
	}
	switch {
	case i.Hi*(1+noise) <= limit:
		return Passed, text
	case i.Lo/(1+noise) > limit:
		return Missed, text
	}
	return Inconclusive, text + ": too close to tell; use more rounds, or an idle machine"
}

func anyNaN(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) {
			return true
		}
	}
	return false
}

// Worst is the worst status of outcomes, and Passed if there is none.
func Worst(outcomes []Outcome) Status {
	worst := Passed
	for _, o := range outcomes {
		if o.Status == Missed || worst == Passed {
			worst = o.Status
		}
	}
	return worst
}
