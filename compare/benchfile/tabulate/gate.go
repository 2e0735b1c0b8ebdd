package tabulate

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Gate is how much worse a unit may become. Make one with ParseGate.
type Gate struct {
	Unit  string // in base units, as in reports
	Limit string // as written, with its unit

	sign    byte    // '+', '-' or 0
	percent bool    // amount is in per cent of the baseline
	amount  float64 // in the unit, or per cent
}

func (g Gate) String() string { return g.Unit + ":" + g.Limit }

// A GateError says why a gate cannot be understood or decided.
type GateError struct {
	Gate string
	Text string
}

func (e *GateError) Error() string { return e.Gate + ": " + e.Text }

const gateRule = "must be UNIT:LIMIT, and the limit have a unit, as in overshoot-sec:+10% or overshoot-sec:+5ms"

var limitForm = regexp.MustCompile(`^([+-]?)([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(.*)$`)

// ParseGate reads "UNIT:LIMIT". The limit is a number with a sign and a unit: per cent
// of the baseline, or a difference, in ns, us, ms or s for a unit of time, B, kB, KiB
// and so on for bytes, and else in the end of the unit, as "0/run" for
// "stale-attempted/run". The error is a *GateError.
func ParseGate(text string) (Gate, error) {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 {
		return Gate{}, &GateError{text, gateRule}
	}
	g := Gate{Unit: baseUnit(text[:i]), Limit: text[i+1:]}
	m := limitForm.FindStringSubmatch(g.Limit)
	if m == nil {
		return Gate{}, &GateError{text, gateRule}
	}
	if m[1] != "" {
		g.sign = m[1][0]
	}
	amount, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return Gate{}, &GateError{text, gateRule}
	}
	switch suffix := m[3]; {
	case suffix == "":
		return Gate{}, &GateError{text, fmt.Sprintf("%q has no unit: %s", g.Limit, gateRule)}
	case suffix == "%":
		g.percent, g.amount = true, amount
	default:
		factor, ok := factorOf(g.Unit, suffix)
		if !ok {
			return Gate{}, &GateError{text, fmt.Sprintf("%q is not in a unit that fits %s: must be %s", g.Limit, g.Unit, limitsOf(g.Unit))}
		}
		g.amount = amount * factor
	}
	if g.amount > 1e290 {
		return Gate{}, &GateError{text, "the limit is too large"}
	}
	return g, nil
}

var (
	timeFactors = map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "sec": 1}
	byteFactors = map[string]float64{"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
)

// factorOf is how many of unit suffix is.
func factorOf(unit, suffix string) (float64, bool) {
	if f, ok := factors(unit)[suffix]; ok {
		return f, true
	}
	return 1, strings.HasSuffix(unit, suffix)
}

func factors(unit string) map[string]float64 {
	switch kindOf(unit) {
	case seconds:
		return timeFactors
	case octets:
		return byteFactors
	}
	return nil
}

// limitsOf says what a limit for unit may look like.
func limitsOf(unit string) string {
	switch kindOf(unit) {
	case seconds:
		return "as 10% or 5ms"
	case octets:
		return "as 10% or 5KiB"
	}
	if i := strings.IndexByte(unit, '/'); i > 0 {
		return "as 10% or 5" + unit[i:]
	}
	return "as 10% or 5" + unit
}

// A Status is how a gate decides on a row.
type Status string

// Statuses, from good to bad.
const (
	Passed    Status = "passed"
	Undecided Status = "inconclusive"
	Failed    Status = "failed"
)

// Outcome is what a gate says of one row.
type Outcome struct {
	Gate   string `json:"gate"`
	Row    string `json:"row"`
	Status Status `json:"status"`
	Text   string `json:"text"` // why, in words
}

// Check applies gates to a report with a baseline, and fills its Gates. The error is a
// *GateError if a gate cannot be decided: its unit is in no row, or it is not known
// whether higher or lower is better, or the sign of the limit says otherwise.
func (r *Report) Check(gates []Gate) error {
	for _, g := range gates {
		i := slices.IndexFunc(r.Units, func(u Unit) bool { return u.Name == g.Unit })
		if i < 0 {
			return &GateError{g.String(), "no result has that unit; there are " + r.unitNames()}
		}
		u := r.Units[i]
		if err := g.fits(u); err != nil {
			return err
		}
		for _, row := range u.Rows {
			status, text := g.decide(u, row)
			r.Gates = append(r.Gates, Outcome{g.String(), row.Name, status, text})
		}
	}
	return nil
}

func (r *Report) unitNames() string {
	var names []string
	for _, u := range r.Units {
		names = append(names, u.Name)
	}
	return strings.Join(names, ", ")
}

// fits checks that a limit goes in the direction that is worse.
func (g Gate) fits(u Unit) error {
	switch {
	case u.Better == "":
		return &GateError{g.String(), fmt.Sprintf(`it is not known whether higher or lower is better: a file must say "Unit %s better=lower" or higher`, u.Name)}
	case u.Better == "lower" && g.sign == '-', u.Better == "higher" && g.sign == '+':
		return &GateError{g.String(), fmt.Sprintf("of %s %s is better, so that it cannot become worse by %s: change the sign, or leave it out", u.Name, u.Better, g.Limit)}
	}
	return nil
}

// decide says whether a row may pass, and why.
func (g Gate) decide(u Unit, row Row) (Status, string) {
	is := row.Cells[1]
	v := is.Versus
	switch {
	case is.NotFinite > 0:
		return Failed, fmt.Sprintf("%d of %d samples are NaN or infinite", is.NotFinite, is.N+is.NotFinite)
	case is.N == 0:
		return Failed, none(row.Note)
	case row.Cells[0].NotFinite > 0 && row.Cells[0].N == 0:
		return Undecided, "the samples of the baseline are NaN or infinite"
	case row.Cells[0].N == 0:
		return Passed, none(row.Note) + ": nothing to compare with"
	}
	w := words{unit: g.Unit, ascii: true}
	text := w.comparison(v)
	beyond := g.beyond(v)
	switch {
	case v.Verdict == Inconclusive:
		return Undecided, text
	case v.Verdict == Worse && beyond:
		return Failed, text
	case v.Verdict == Same && beyond && (v.change > 0) == (u.Better == "lower"):
		return Undecided, text + ", but the " + v.Of + "s differ by " + w.change(v.change, v.base) + ": take more samples"
	}
	return Passed, text
}

// beyond reports whether a change is larger than the limit.
func (g Gate) beyond(v *Comparison) bool {
	limit := g.amount
	if g.percent {
		limit = g.amount / 100 * math.Abs(v.base)
	}
	return math.Abs(v.change) > limit*(1+1e-9)
}

// Status is the worst status of all gates, and Passed without one.
func (r *Report) Status() Status {
	worst := Passed
	for _, o := range r.Gates {
		if o.Status == Failed || worst == Passed {
			worst = o.Status
		}
	}
	return worst
}
