package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// grouped writes a whole number with a comma between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// millis writes milliseconds for people: finely while that is what matters.
func millis(v float64) string {
	if math.Abs(v) >= 99.95 {
		return grouped(int(math.Round(v))) + " ms"
	}
	return ms(v) + " ms"
}

// number is millis without the unit.
func number(v float64) string { return strings.TrimSuffix(millis(v), " ms") }

// short is grouped for narrow columns: thousands of many are a k.
func short(n int) string {
	if n < 10_000 {
		return strconv.Itoa(n)
	}
	return strconv.FormatFloat(float64(n)/1000, 'g', 4, 64) + "k"
}

// digits are a share in per cent with two significant digits. What is not all is not
// "100".
func digits(v float64) string {
	switch v *= 100; {
	case v > 99 && v < 100:
		return strconv.FormatFloat(math.Floor(100*v)/100, 'f', -1, 64)
	case v >= 99:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// percent writes a share.
func percent(v float64) string {
	return digits(v) + " %"
}

// perSecond writes commands a second for narrow columns, in two significant digits or
// more.
func perSecond(v float64) string {
	if v > 0 && v < 1 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// duration writes one as settings do, without zero parts: 2s, 1m30s.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// milliseconds are what all figures are written in.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
