package decide

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"incumbent/compare/measure"
)

// short writes a duration in about three digits, rounded up: what is reported as the
// longest must not be shorter than it was.
func short(d time.Duration) string {
	unit := 10 * time.Microsecond
	switch {
	case d >= time.Second:
		unit = 10 * time.Millisecond
	case d >= 100*time.Millisecond:
		unit = time.Millisecond
	case d >= 10*time.Millisecond:
		unit = 100 * time.Microsecond
	}
	return duration(upTo(d, unit))
}

// PerSecond writes a rate, such as commands a second, in about three digits.
func PerSecond(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// seldom is how often at most something happens that none of n runs showed.
func seldom(what string, n int) string {
	return fmt.Sprintf("; %s in at most %s %% of all (95 %% upper bound)", what, strconv.FormatFloat(100*measure.UpperBound(n), 'g', 2, 64))
}

// plural is "1 run" or "2 runs".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// list is "a", "a and b", "a, b and c".
func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}
