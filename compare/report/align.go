package report

import (
	"strings"
	"unicode/utf8"
)

// group is a heading over some columns.
type group struct {
	title   string
	columns []string
}

// grid lays out rows under groups of columns: the first column to the left, all
// others to the right, groups a little apart.
type grid struct {
	groups []group
	rows   [][]string
}

// widths makes each column as wide as its widest cell, and each group as wide as
// its title.
func (g grid) widths() []int {
	var w []int
	for _, gr := range g.groups {
		for _, name := range gr.columns {
			w = append(w, utf8.RuneCountInString(name))
		}
	}
	for _, row := range g.rows {
		for i, cell := range row {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	first := 0
	for _, gr := range g.groups {
		n := len(gr.columns)
		w[first] += max(0, utf8.RuneCountInString(gr.title)-span(w[first:first+n]))
		first += n
	}
	return w
}

// span is how wide columns of those widths are together.
func span(w []int) int {
	total := len(w) - 1
	for _, n := range w {
		total += n
	}
	return total
}

// head is the two lines above the rows.
func (g grid) head() (titles, names string) {
	w := g.widths()
	var columns, parts []string
	first := 0
	for _, gr := range g.groups {
		parts = append(parts, pad(gr.title, span(w[first:first+len(gr.columns)])))
		columns = append(columns, gr.columns...)
		first += len(gr.columns)
	}
	return strings.TrimRight(strings.Join(parts, "  "), " "), g.line(columns)
}

// line lays out one row.
func (g grid) line(cells []string) string {
	w := g.widths()
	var b strings.Builder
	i := 0
	for n, gr := range g.groups {
		for k := range gr.columns {
			switch {
			case i == 0:
				b.WriteString(pad(cells[i], w[i]))
			case k == 0 && n > 0:
				b.WriteString("  " + padLeft(cells[i], w[i]))
			default:
				b.WriteString(" " + padLeft(cells[i], w[i]))
			}
			i++
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) + s
}
