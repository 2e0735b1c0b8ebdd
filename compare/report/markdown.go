package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"incumbent/compare"
)

// Markdown writes the report as a page that GitHub renders, with the figures of the
// HTML page. All text from elsewhere is escaped.
func Markdown(w io.Writer, rep Report) error {
	m := &markdown{}
	r := rep.Result
	s := newScreen(rep)
	m.printf("%s\n\n# %s\n\n", generatedComment, plainText(title(r)))
	for _, a := range s.Alarms {
		m.printf("**%s**\n\n", plainText(a))
	}
	m.printf("%s\n\n", plainText(strings.TrimSpace(strings.Join(append(s.Verdict, s.Hint), " "))))
	m.screen(s)
	m.worst(r)
	switch {
	case s.Step != "":
		m.printf("**Next:** %s\n\n", plainText(s.Step))
	case s.Next != "":
		m.printf("**Next:** %s\n\n", codeSpan(s.Next))
	}
	m.decision(newDecision(rep.Decision))
	m.problems(problems(r))
	m.dangers(r)
	m.full(r)
	m.cost(r)
	m.remote(r.Remote)
	m.repeat(rep)
	_, err := io.WriteString(w, m.b.String())
	return err
}

// markdown is a page that is being written.
type markdown struct{ b strings.Builder }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

// heading begins a part.
func (m *markdown) heading(text string) { m.printf("## %s\n\n", text) }

// table writes a table, all of whose texts it escapes.
func (m *markdown) table(head []string, rows [][]string) {
	write := func(cells []string) {
		for _, c := range cells {
			m.printf("| %s ", plainText(c))
		}
		m.printf("|\n")
	}
	write(head)
	m.printf("%s|\n", strings.Repeat("|---", len(head)))
	for _, r := range rows {
		write(r)
	}
	m.printf("\n")
}

// screen is the table of the first screen.
func (m *markdown) screen(s screen) {
	var rows [][]string
	for _, r := range s.Rows {
		row := []string{r.Label + " (" + r.About + ")"}
		for _, f := range r.Figures {
			text := f.Value
			if f.Note != "" {
				text += "; " + f.Note
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	m.table(append([]string{s.Guards}, s.Modes...), rows)
	m.printf("All figures: %s.\n\n", plainText(s.Caption))
}

// worst tells the worst pause.
func (m *markdown) worst(r *compare.Result) {
	i := worstPauseOf(r)
	if i < 0 {
		m.printf("No pause between a check and a write was played (fault pause-write).\n\n")
		return
	}
	c := timelineOf(r, r.Worst[i], "")
	m.printf("The worst pause: %s. %s Again: %s\n\n", plainText(c.Title), plainText(c.Caption), codeSpan(c.Again))
	var rows [][]string
	story := newTimeline(r.Worst[i].Run).story()
	for _, e := range story[:min(len(story), told)] {
		rows = append(rows, []string{millis(milliseconds(e.at)), e.text})
	}
	m.table([]string{"since the fault", "what happened"}, rows)
}

// decision writes what was decided.
func (m *markdown) decision(d *decision) {
	if d == nil {
		return
	}
	m.heading("Decision")
	met := d.State
	if !d.Met {
		met = "**" + met + "**"
	}
	m.printf("Asked for: %s. %s\n\n%s\n\n", codeSpan(d.SLO), met, plainText(d.Reason))
	for _, n := range d.Notes {
		m.printf("%s\n\n", plainText(n))
	}
	var rows [][]string
	for _, o := range d.Options {
		against := "nothing"
		if len(o.Misses) > 0 {
			against = strings.Join(o.Misses, " ")
		}
		rows = append(rows, []string{o.Mode, o.Answer, o.TTL, o.Renew, o.Failover, o.Servers, o.Rate, against})
	}
	m.table([]string{"mode", "fits", "TTL", "renew", "failover, at most", "servers", "commands/s", "what speaks against it"}, rows)
}

// problems lists what went wrong.
func (m *markdown) problems(list []problem) {
	if len(list) == 0 {
		return
	}
	m.heading("What went wrong")
	for _, p := range list {
		m.printf("- **%s**", plainText(p.Text))
		if p.Command != "" {
			m.printf(": %s", codeSpan(p.Command))
		}
		m.printf("\n")
	}
	m.printf("\n")
}

// dangers is the table of faults and modes.
func (m *markdown) dangers(r *compare.Result) {
	h := newHeat(r)
	if h == nil {
		return
	}
	m.heading("Dangers, by fault and mode")
	m.printf("Milliseconds. Acts: the worst overlap, and in how many runs. Leaderless: p50 / worst. %s %s\n\n", plainText(leaderlessNote), plainText(under(r)))
	head := []string{"fault"}
	for _, mode := range h.Modes {
		head = append(head, mode+" acts, guards on", "off", "leaderless, on", "off")
	}
	var rows [][]string
	for _, line := range h.Rows {
		row := []string{line.Fault}
		for _, c := range line.Cells {
			text := c.Value
			if c.Note != "" {
				text += " (" + c.Note + ")"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	m.table(head, rows)
}

// full is the table of all cells.
func (m *markdown) full(r *compare.Result) {
	t := newFullTable(r)
	if len(t.Rows) == 0 {
		return
	}
	m.heading("All cells")
	m.printf("Milliseconds; [95 %% interval] of the median. %s\n\n", plainText(under(r)))
	m.table(t.Columns, t.Rows)
}

// cost says what modes ask of their servers.
func (m *markdown) cost(r *compare.Result) {
	m.heading("Cost")
	if c, ok := costs(r); ok {
		m.printf("%s. %s %s\n\n", plainText(c.Title), plainText(c.Caption), plainText(under(r)))
		m.table([]string{"mode", "servers", "leader, commands/s", "each standby, commands/s"}, costRows(r))
		return
	}
	m.printf("Not measured: the fault `calm` was not played.\n\n")
}

// repeat says how to play it again.
func (m *markdown) repeat(rep Report) {
	m.heading("What the words mean")
	for _, d := range definitions(rep.Result.Lab) {
		m.printf("- **%s**: %s\n", plainText(d.Word), plainText(d.Text))
	}
	m.printf("\n")
	m.heading("Repeat it")
	if rep.Command != "" {
		m.printf("%s\n\n", codeSpan(rep.Command))
	}
	for _, f := range []struct{ word, text string }{
		{"Versions", rep.Versions}, {"Host", rep.Host}, {"Played", played(rep.Result)},
	} {
		if f.text != "" {
			m.printf("- %s: %s\n", f.word, plainText(f.text))
		}
	}
}

// plainText escapes text, so that it is shown as it is: no markup, no HTML, no links
// and no mentions, in one line.
func plainText(s string) string {
	return markdownEscapes.Replace(oneLine(s))
}

var markdownEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"~", `\~`, "!", `\!`, "$", `\$`, "#", "&#35;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;")

// codeSpan writes text as code: between more backticks than it has in a row.
func codeSpan(s string) string {
	s = oneLine(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if fence == "`" {
		return fence + s + fence
	}
	return fence + " " + s + " " + fence
}

// oneLine replaces what breaks lines, and other control characters, by spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
