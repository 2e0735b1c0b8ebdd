package tabulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchunit"
)

// kind is what a unit measures.
type kind int

const (
	other kind = iota
	seconds
	octets
)

// kindOf looks for the unit's first part: "failover-sec" is seconds, "B/op" bytes.
func kindOf(unit string) kind {
	over, _, _ := strings.Cut(unit, "/")
	for part := range strings.FieldsFuncSeq(over, func(r rune) bool { return r == '-' || r == '*' }) {
		switch part {
		case "sec":
			return seconds
		case "B", "bytes":
			return octets
		}
	}
	return other
}

// words writes values of one unit for people.
type words struct {
	unit  string
	ascii bool
}

// scale is how values near v are written: divided by factor, followed by symbol.
func (w words) scale(v float64) (factor float64, symbol string) {
	v = rounded(v)
	s := benchunit.CommonScale([]float64{v}, benchunit.ClassOf(w.unit))
	switch kindOf(w.unit) {
	case seconds:
		return s.Factor, " " + w.micro(s.Prefix) + "s"
	case octets:
		return s.Factor, " " + s.Prefix + "B"
	}
	if a := math.Abs(v); a >= 1e-3 && a < 1e4 {
		return 1, ""
	}
	return s.Factor, w.micro(s.Prefix)
}

func (w words) micro(prefix string) string {
	if w.ascii && prefix == "µ" {
		return "u"
	}
	return prefix
}

// value writes v with its symbol.
func (w words) value(v float64) string {
	factor, symbol := w.scale(v)
	return w.number(v, factor) + symbol
}

// number writes v divided by factor: a count as it is, and else three digits.
func (w words) number(v, factor float64) string {
	if factor == 1 && kindOf(w.unit) != seconds && math.Abs(v) < 1e4 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return digits(v / factor)
}

// digits writes three significant digits.
func digits(v float64) string {
	a := math.Abs(rounded(v))
	switch {
	case v == 0:
		return "0"
	case a >= 1e6 || a < 1e-3:
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	places := 2 - int(math.Floor(math.Log10(a)))
	return strconv.FormatFloat(v, 'f', max(places, 0), 64)
}

// rounded is v in three significant digits: 999.96 is to be written as 1000 is.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// interval writes the median of a cell and its interval: "14.2 ms [13.1, 15.0]".
func (w words) interval(c Cell) string {
	if c.N == 0 {
		return "-"
	}
	if c.Lo == nil || c.Hi == nil {
		return w.value(c.Median) + w.unbounded()
	}
	near := c.Median
	if near == 0 {
		near = *c.Hi
	}
	factor, symbol := w.scale(near)
	text := w.number(c.Median, factor) + symbol + " [" + w.number(*c.Lo, factor) + ", " + w.number(*c.Hi, factor) + "]"
	if c.Median == 0 && *c.Hi == 0 && c.Max > 0 {
		text += " max " + w.value(c.Max)
	}
	return text
}

func (w words) unbounded() string {
	if w.ascii {
		return " +-inf"
	}
	return " ±∞"
}

// change writes a difference in per cent, or in the unit where per cent say nothing.
func (w words) change(delta, base float64) string {
	percent := 100 * (delta / math.Abs(base))
	if base == 0 || math.Abs(percent) >= 1e5 || math.IsNaN(percent) {
		return signed(delta) + w.value(delta)
	}
	return signed(percent) + percentage(percent) + "%"
}

// percentage never rounds to zero or to a whole hundred what is not.
func percentage(p float64) string {
	switch a := math.Abs(p); {
	case a >= 1000, a == 100:
		return strconv.FormatFloat(p, 'f', 0, 64)
	case a >= 99 && a < 100:
		return digitsBelow100(p)
	case a >= 10:
		return strconv.FormatFloat(p, 'f', 1, 64)
	}
	return digits(p)
}

// digitsBelow100 writes 99.874 as such: between 99 and 100 each place is a factor.
func digitsBelow100(p float64) string {
	for places := 1; places < 6; places++ {
		if text := strconv.FormatFloat(p, 'f', places, 64); !strings.HasPrefix(strings.TrimPrefix(text, "-"), "100") {
			return text
		}
	}
	return strconv.FormatFloat(p, 'f', 6, 64)
}

func signed(v float64) string {
	if v > 0 {
		return "+"
	}
	return ""
}

// comparison writes what a comparison found.
func (w words) comparison(c *Comparison) string {
	switch c.Verdict {
	case Unmatched:
		return string(Unmatched)
	case Inconclusive:
		text := fmt.Sprintf("inconclusive: n = %d, needs %d", c.Has, c.Needs)
		if c.Note != "" {
			text = fmt.Sprintf("inconclusive: %s, needs %d", c.Note, c.Needs)
		}
		return text
	case Same:
		if c.Note != "" {
			return "~ " + c.Note
		}
		return "~" + p(c)
	}
	text := w.change(c.change, c.base)
	if c.Of == "mean" {
		text = "mean " + text
	}
	return text + p(c) + " " + string(c.Verdict)
}

func p(c *Comparison) string {
	switch {
	case c.P == nil:
		return ""
	case *c.P < 0.001:
		return " p<0.001"
	}
	return fmt.Sprintf(" p=%.3f", *c.P)
}

// text makes a name fit to print: no control characters, and for a terminal without
// Unicode nothing but ASCII.
func (w words) text(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < unicode.MaxASCII && unicode.IsPrint(r), !w.ascii && r != unicode.ReplacementChar && unicode.IsPrint(r):
			b.WriteRune(r)
		case r == unicode.ReplacementChar:
			b.WriteByte('?')
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
