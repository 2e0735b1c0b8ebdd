package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// A terminal's width and height, which the first screen keeps to.
const (
	screenWidth  = 80
	screenHeight = 24
)

// Columns of the table on a terminal, and lines below it: more than three modes do not fit.
const (
	labelWidth   = 17
	columnWidth  = 20
	modesOnTable = 3
	longestNext  = 5 // lines
)

// First writes the first screen: the verdict, the table of modes and the next command,
// in at most 24 lines of 80 columns. There is no colour in it, so that it may be piped.
// Control characters in text from elsewhere are replaced.
func First(w io.Writer, rep Report) error {
	s := newScreen(rep)
	head := wrapped("incumbent compare: " + s.Caption)
	var prose []string
	for _, a := range s.Alarms {
		prose = append(prose, wrapped(a)...)
	}
	prose = append(prose, wrapped(strings.Join(s.Verdict, " "))...)
	table, next := terseTable(s), nextLines(s.Next)
	if s.Step != "" {
		next = wrapped("Next: " + s.Step)
	}
	if more := wrapped(s.Hint); s.Hint != "" && len(head)+len(prose)+len(more)+len(table)+len(next) <= screenHeight {
		prose = append(prose, more...)
	}
	lines := join(head, prose, table, next)
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// join lays out the parts of a screen: an empty line between them as far as there is
// room, and prose cut short where there is not.
func join(head, prose, table, next []string) []string {
	total := len(head) + len(prose) + len(table) + len(next)
	if over := total - screenHeight; over > 0 {
		left := max(len(prose)-over, 1)
		total -= len(prose) - left
		prose = append(prose[:left-1:left-1], ellipsis(prose[left-1]))
	}
	out := head
	for _, p := range [][]string{prose, table, next} {
		if len(p) > 0 && total < screenHeight {
			out = append(out, "")
			total++
		}
		out = append(out, p...)
	}
	return out
}

// ellipsis ends a line that others were to follow.
func ellipsis(line string) string {
	if len(line) > screenWidth-4 {
		line = line[:strings.LastIndex(line[:screenWidth-4], " ")]
	}
	return line + " ..."
}

// terseTable lays out the rows.
func terseTable(s screen) []string {
	modes := min(len(s.Modes), modesOnTable)
	head := pad("", labelWidth)
	for _, m := range s.Modes[:modes] {
		head += " " + pad(clip(printable(m), columnWidth), columnWidth)
	}
	lines := []string{strings.TrimRight(head, " ")}
	for _, r := range s.Rows {
		for i, label := range r.Terse {
			line := pad(label, labelWidth)
			for _, f := range r.Figures[:modes] {
				line += " " + pad(clip(f.Terse[i], columnWidth), columnWidth)
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	if more := len(s.Modes) - modes; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s, which --table shows", times(more, "mode")))
	}
	return lines
}

// clip cuts text that is too wide: figures of such an order of size are in the page.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + ">"
	}
	return s
}

// wrapped breaks text into lines of a screen.
func wrapped(text string) []string {
	return strings.Split(wrap(printable(text), screenWidth), "\n")
}

// nextLines are the next command as a shell reads it: lines that go on end in a
// backslash. None is cut: half a command is another command.
func nextLines(command string) []string {
	if command == "" {
		return nil
	}
	lines := strings.Split(wrap(printable("Next: "+command), screenWidth-6), "\n")
	if len(lines) > longestNext {
		return []string{"Next: a command that is too long for this screen; see the report's page."}
	}
	for i := range lines {
		if i > 0 {
			lines[i] = "    " + lines[i]
		}
		if i < len(lines)-1 {
			lines[i] += " \\"
		}
	}
	return lines
}

// printable replaces what moves a terminal's cursor, changes its colours or turns the
// direction of text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, oneLine(text))
}
