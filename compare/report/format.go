package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ms writes milliseconds in at most six places: finely while that is what matters.
func ms(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// outOf writes a count; none as "0 of n", since none of two is not none of two
// thousand.
func outOf(count, n int) string {
	if count == 0 {
		return fmt.Sprintf("0 of %d", n)
	}
	return strconv.Itoa(count)
}

// share writes a part of n in per cent; "-" for none.
func share(part, n int) string {
	if part == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(n))
}

// tightPercent is percent without a space, for tables of text.
func tightPercent(v float64) string {
	return digits(v) + "%"
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

// wrap breaks text into lines of at most width, where it can: not before a %.
func wrap(text string, width int) string {
	const glue = "\x00"
	return strings.ReplaceAll(wrapWords(strings.ReplaceAll(text, " %", glue+"%"), width), glue, " ")
}

func wrapWords(text string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case n+1+length > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += length
	}
	return b.String()
}
