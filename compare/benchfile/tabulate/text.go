package tabulate

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// width of a text report.
const width = 100

// WriteText writes the report for a terminal of 100 columns. With ascii it writes
// nothing but ASCII.
func (r *Report) WriteText(out io.Writer, ascii bool) error {
	t := &text{words: words{ascii: ascii}}
	t.head(r)
	for _, u := range r.Units {
		t.unit = u.Name
		t.table(r, u)
	}
	t.foot(r)
	_, err := io.WriteString(out, t.b.String())
	return err
}

type text struct {
	words
	b strings.Builder
}

// printf writes a line, broken where it is too long.
func (t *text) printf(format string, args ...any) {
	t.line("", fmt.Sprintf(format, args...))
}

// line writes words after an indentation, on as many lines as they need.
func (t *text) line(indent, s string) {
	s = t.words.text(s)
	for room := width - len(indent); utf8.RuneCountInString(s) > room; {
		cut := len(string([]rune(s)[:room]))
		if i := strings.LastIndexByte(s[:cut], ' '); i > room/2 {
			cut = i
		}
		t.b.WriteString(indent + strings.TrimRight(s[:cut], " ") + "\n")
		s = strings.TrimLeft(s[cut:], " ")
	}
	t.b.WriteString(strings.TrimRight(indent+s, " ") + "\n")
}

// head says what was read.
func (t *text) head(r *Report) {
	for _, f := range r.Files {
		side := ""
		if f.Side != "" {
			side = f.Side + ": "
		}
		t.printf("%s%s: %s%s", side, f.Name, plural(f.Results, "result"), asRead(f))
		for _, why := range f.Incomplete {
			t.printf("  INCOMPLETE RUN: %s", why)
		}
		if f.NotFinite > 0 {
			t.printf("  %s NaN or infinite, and left out", plural(f.NotFinite, "value"))
		}
	}
	var all []string
	for _, s := range r.Settings {
		all = append(all, s.Key+": "+s.Value)
	}
	if len(all) > 0 {
		t.printf("%s", strings.Join(all, ", "))
	}
}

// asRead is how a file was read, if not as plain text.
func asRead(f File) string {
	how := ""
	if f.Encoding != "UTF-8" {
		how += ", " + f.Encoding
	}
	if f.JSON {
		how += ", go test -json"
	}
	return how
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// table writes the rows of a unit. Columns that do not fit follow in another table,
// again beside the first.
func (t *text) table(r *Report, u Unit) {
	better := "not known whether higher or lower is better"
	if u.Better != "" {
		better = u.Better + " is better"
	}
	t.b.WriteByte('\n')
	t.printf("%s: median and 95 %% interval, %s", u.Name, better)
	for _, columns := range t.split(r, u) {
		t.columns(r, u, columns)
	}
}

// gap is between columns, and before the first.
const gap = 2

// split is which columns are written together.
func (t *text) split(r *Report, u Unit) (blocks [][]int) {
	w := t.widths(r, u)
	used, block := width, []int(nil)
	for i := 1; i < len(r.Columns); i++ {
		if used+gap+w[i] > width || block == nil {
			block = []int{0}
			used = gap + w[0]
			blocks = append(blocks, nil)
		}
		block = append(block, i)
		used += gap + w[i]
		blocks[len(blocks)-1] = block
	}
	if len(blocks) == 0 {
		return [][]int{{0}}
	}
	return blocks
}

// widths are those of the columns.
func (t *text) widths(r *Report, u Unit) []int {
	w := make([]int, len(r.Columns))
	for i, name := range r.Columns {
		w[i] = utf8.RuneCountInString(t.short(name))
		for _, row := range u.Rows {
			for _, s := range t.cell(row, i) {
				w[i] = max(w[i], utf8.RuneCountInString(s))
			}
		}
	}
	return w
}

// short is a column's name; of a long one the end, which tells files apart.
func (t *text) short(name string) string {
	const longest = 30
	r := []rune(t.words.text(name))
	if len(r) > longest {
		return "..." + string(r[len(r)-longest+3:])
	}
	return string(r)
}

// columns writes some columns of all rows: a row is its name, and below it two lines.
func (t *text) columns(r *Report, u Unit, columns []int) {
	w := t.widths(r, u)
	lay := func(cells func(i int) string) {
		var b strings.Builder
		for _, i := range columns {
			s := cells(i)
			b.WriteString(strings.Repeat(" ", gap) + s + strings.Repeat(" ", w[i]-utf8.RuneCountInString(s)))
		}
		if s := strings.TrimRight(b.String(), " "); s != "" {
			t.b.WriteString(s + "\n")
		}
	}
	lay(func(i int) string { return t.short(r.Columns[i]) })
	for _, row := range u.Rows {
		t.line("", row.Name)
		for k := range 2 {
			lay(func(i int) string { return t.cell(row, i)[k] })
		}
		if row.Note != "" {
			t.line("  ", row.Note)
		}
	}
}

// cell is the two lines of a cell: the median, and how it compares.
func (t *text) cell(row Row, i int) [2]string {
	c := row.Cells[i]
	lines := [2]string{t.interval(c), ""}
	v := c.Versus
	if c.N > 0 && (v == nil || v.Verdict != Inconclusive || v.Has != c.N || v.Note != "") {
		lines[1] = fmt.Sprintf("n=%d", c.N)
	}
	if c.NotFinite > 0 {
		lines[1] = strings.TrimLeft(fmt.Sprintf("%s +%d not finite", lines[1], c.NotFinite), " ")
	}
	if v != nil && v.Verdict != Unmatched {
		lines[1] = strings.TrimLeft(lines[1]+" "+t.comparison(v), " ")
	}
	return lines
}

// foot counts the verdicts, and says what the gates decided.
func (t *text) foot(r *Report) {
	if len(r.Columns) > 1 {
		t.b.WriteByte('\n')
		t.printf("%s", r.counts())
	}
	if len(r.Gates) == 0 {
		return
	}
	t.b.WriteByte('\n')
	for _, o := range r.Gates {
		t.line("", fmt.Sprintf("gate %s %s: %s: %s", o.Gate, strings.ToUpper(string(o.Status)), o.Row, o.Text))
	}
}

// counts says how many rows went which way, the bad ones first.
func (r *Report) counts() string {
	v := r.Verdict
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{
		{v.Worse, "worse"}, {v.Better, "better"}, {v.Changed, "changed"}, {v.Same, "without a difference (~)"},
		{v.Inconclusive, "inconclusive"}, {v.Unmatched, "unmatched"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	text := "Compared with " + r.Columns[0] + ": " + strings.Join(parts, ", ") + "."
	if len(parts) == 0 {
		text = "Nothing to compare: no row has a result both in " + r.Columns[0] + " and in another column."
	}
	if v.Incomplete {
		text += " INCOMPLETE: a file may not hold its whole run."
	}
	return text
}
