package planted

import (
	"fmt"
	"slices"
	"strings"
)

// page is docs/planted.md with new tables: each stands between two comments.
func page(old string, list []bug, marks []mark) (string, error) {
	text := old
	for _, part := range []struct{ name, table string }{
		{"bugs", bugTable(list)},
		{"checks", checkTable(list)},
		{"branches", markTable(marks)},
	} {
		begin, end := "<!-- "+part.name+" -->\n", "<!-- end of "+part.name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, both := strings.Cut(rest, end)
		if !ok || !both {
			return "", fmt.Errorf("docs/planted.md: wants lines %q and %q", strings.TrimSpace(begin), end)
		}
		text = head + begin + part.table + end + tail
	}
	return text, nil
}

// bugTable has a line for each bug.
func bugTable(list []bug) string {
	var b strings.Builder
	b.WriteString("| bug | breaks | what it does | found by | in |\n|---|---|---|---|---|\n")
	for _, x := range list {
		about := x.about
		if x.seen != "" {
			about += " (" + x.seen + ")"
		}
		by, in := "unit test", make([]string, 0, len(x.plays))
		if len(x.by) > 0 {
			by = strings.Join(x.by, "; or: ")
		}
		for _, s := range x.plays {
			in = append(in, playName(s))
		}
		for _, u := range x.tests {
			in = append(in, u.pkg+": "+strings.ReplaceAll(u.run, "|", ", "))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", x.name, x.rule, about, by, strings.Join(in, "; "))
	}
	return b.String()
}

// checkTable has a line for each check, those that find nothing included.
func checkTable(list []bug) string {
	var b strings.Builder
	b.WriteString("| check | bugs that it is to find |\n|---|---|\n")
	line := func(name string, finds func(bug) bool) {
		var names []string
		for _, x := range list {
			if finds(x) {
				names = append(names, "`"+x.name+"`")
			}
		}
		if names == nil {
			names = []string{"none of these"}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(names, ", "))
	}
	for _, c := range checks {
		line(c.name, func(x bug) bool { return slices.Contains(x.by, c.name) })
	}
	line("unit tests", func(x bug) bool { return len(x.tests) > 0 })
	return b.String()
}

// markTable has a line for each rare branch.
func markTable(marks []mark) string {
	var b strings.Builder
	b.WriteString("| branch | in |\n|---|---|\n")
	for _, m := range marks {
		fmt.Fprintf(&b, "| %s | %s |\n", m.name, m.file)
	}
	return b.String()
}
