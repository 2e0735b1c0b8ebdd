package tabulate

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
)

// WriteJSON writes the report as one JSON object. Unbounded intervals are null.
func (r *Report) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteCSV writes one line a row and column, values in base units and in full.
// Unbounded intervals, and what does not apply, are empty.
func (r *Report) WriteCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	head := []string{"unit", "better", "benchmark", "column", "n", "not_finite", "median", "lo", "hi", "min", "max", "mean",
		"verdict", "delta", "percent", "p", "needs", "note"}
	lines := [][]string{head}
	for _, u := range r.Units {
		for _, row := range u.Rows {
			for i, c := range row.Cells {
				line := []string{u.Name, u.Better, "Benchmark" + row.Name, r.Columns[i], strconv.Itoa(c.N), strconv.Itoa(c.NotFinite)}
				lines = append(lines, append(append(line, c.numbers()...), c.Versus.fields(row.Note)...))
			}
		}
	}
	return w.WriteAll(lines)
}

// numbers are the figures of a cell, empty without samples.
func (c Cell) numbers() []string {
	if c.N == 0 {
		return make([]string, 6)
	}
	return []string{number(&c.Median), number(c.Lo), number(c.Hi), number(&c.Min), number(&c.Max), number(&c.Mean)}
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// fields are those of a comparison, empty without one.
func (c *Comparison) fields(note string) []string {
	if c == nil {
		return []string{"", "", "", "", "", note}
	}
	needs := ""
	if c.Needs > 0 {
		needs = strconv.Itoa(c.Needs)
	}
	if note == "" {
		note = c.Note
	}
	return []string{string(c.Verdict), number(c.Delta), number(c.Percent), number(c.P), needs, note}
}

// WriteMarkdown writes the report as Markdown, one table a unit. With ascii it writes
// nothing but ASCII.
func (r *Report) WriteMarkdown(out io.Writer, ascii bool) error {
	m := markdown{words: words{ascii: ascii}}
	for _, line := range r.prose() {
		m.printf("%s\n\n", m.escape(line))
	}
	for _, u := range r.Units {
		m.unit = u.Name
		m.table(r, u)
	}
	if len(r.Columns) > 1 {
		m.printf("%s\n", m.escape(r.counts()))
	}
	if len(r.Gates) > 0 {
		m.printf("\n| gate | benchmark | decision | why |\n|---|---|---|---|\n")
	}
	for _, o := range r.Gates {
		m.printf("| %s | %s | **%s** | %s |\n", m.escape(o.Gate), m.escape(o.Row), o.Status, m.escape(o.Text))
	}
	_, err := io.WriteString(out, m.b.String())
	return err
}

// prose is what stands above the tables, a paragraph each.
func (r *Report) prose() []string {
	var all []string
	for _, f := range r.Files {
		line := f.Name + ": " + plural(f.Results, "result") + asRead(f)
		if f.Side != "" {
			line = f.Side + ": " + line
		}
		for _, why := range f.Incomplete {
			line += ". INCOMPLETE RUN: " + why
		}
		if f.NotFinite > 0 {
			line += ". " + plural(f.NotFinite, "value") + " NaN or infinite, and left out"
		}
		all = append(all, line)
	}
	var settings []string
	for _, s := range r.Settings {
		settings = append(settings, s.Key+": "+s.Value)
	}
	if len(settings) > 0 {
		all = append(all, strings.Join(settings, ", "))
	}
	return all
}

type markdown struct {
	words
	b strings.Builder
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

func (m *markdown) table(r *Report, u Unit) {
	title := u.Name
	if u.Better != "" {
		title += " (" + u.Better + " is better)"
	}
	m.printf("### %s\n\n| benchmark |", m.escape(title))
	for _, c := range r.Columns {
		m.printf(" %s |", m.escape(c))
	}
	m.printf("\n|---|%s\n", strings.Repeat("---|", len(r.Columns)))
	for _, row := range u.Rows {
		name := m.escape(row.Name)
		if row.Note != "" {
			name += " (" + m.escape(row.Note) + ")"
		}
		m.printf("| %s |", name)
		for _, c := range row.Cells {
			m.printf(" %s |", m.cell(c))
		}
		m.printf("\n")
	}
	m.printf("\n")
}

func (m *markdown) cell(c Cell) string {
	text := m.interval(c)
	if c.N > 0 {
		text += fmt.Sprintf(", n=%d", c.N)
	}
	if c.NotFinite > 0 {
		text += fmt.Sprintf(", %d not finite", c.NotFinite)
	}
	if c.Versus == nil || c.Versus.Verdict == Unmatched {
		return m.escape(text)
	}
	compared := m.escape(m.comparison(c.Versus))
	if c.Versus.Verdict == Worse {
		compared = "**" + compared + "**"
	}
	return m.escape(text) + ", " + compared
}

// escape makes text stand for itself in a cell of a Markdown table, where HTML is
// read as well.
func (m *markdown) escape(s string) string {
	s = html.EscapeString(m.words.text(s))
	return markdownEscapes.Replace(s)
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`)
