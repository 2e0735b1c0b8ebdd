package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// Help is as wide as a terminal, but not wider than can be read, nor so narrow that
// nothing fits.
const (
	helpWidth    = 100
	minHelpWidth = 60
)

// helpOf writes the help of a command.
func helpOf(w io.Writer, c *cobra.Command) error {
	h := &help{width: widthOf(w)}
	h.usage(c)
	h.text(c.Short)
	h.text(c.Long)
	if c.Example != "" {
		h.text("Examples:\n" + c.Example)
	}
	h.commands(c)
	h.flags("Flags:", c, false)
	h.flags("Settings, as in the file:", c, true)
	if c.HasAvailableSubCommands() {
		h.text(fmt.Sprintf("%q shows more about a command, with examples.", c.CommandPath()+" COMMAND --help"))
	}
	_, err := io.WriteString(w, h.b.String())
	return err
}

// widthOf is how many columns help has that is written to w.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return helpWidth
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 { // no terminal, or one that does not say
		return helpWidth
	}
	return min(helpWidth, max(minHelpWidth, int(size.Col)))
}

// help is the text as it grows.
type help struct {
	b     strings.Builder
	width int
}

// usage is the first line.
func (h *help) usage(c *cobra.Command) {
	line := c.UseLine()
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " COMMAND"
	}
	h.b.WriteString("Usage: " + line + "\n")
}

// text adds paragraphs: their lines are broken anew, but those that are indented stand as
// they are.
func (h *help) text(text string) {
	text = strings.Trim(text, "\n")
	if text == "" {
		return
	}
	h.b.WriteByte('\n')
	var paragraph []string
	flush := func() {
		h.lines(wrap(strings.Join(paragraph, " "), h.width))
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "", strings.HasPrefix(line, " "):
			flush()
			h.lines([]string{line})
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
}

func (h *help) lines(lines []string) {
	for _, l := range lines {
		h.b.WriteString(l + "\n")
	}
}

// commands lists those below c, by group.
func (h *help) commands(c *cobra.Command) {
	list := func(title, group string) {
		var rows [][2]string
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() && below.GroupID == group {
				rows = append(rows, commandRows("  ", below)...)
			}
		}
		h.table(title, rows)
	}
	for _, g := range c.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands:", "")
}

// commandRows is what the help says of a command, or of those below it.
func commandRows(prefix string, c *cobra.Command) (rows [][2]string) {
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			rows = append(rows, commandRows(prefix+c.Name()+" ", below)...)
		}
	}
	if rows == nil {
		rows = [][2]string{{prefix + c.Name(), c.Short}}
	}
	return rows
}

// flags lists those of c: its own, or those of settings.
func (h *help) flags(title string, c *cobra.Command, settings bool) {
	var rows [][2]string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[settingFlag]; ok == settings && !f.Hidden {
			rows = append(rows, flagRow(f, settings))
		}
	})
	h.table(title, rows)
}

// flagRow is what the help says of a flag. Settings have no short names.
func flagRow(f *pflag.Flag, setting bool) [2]string {
	name, usage := pflag.UnquoteUsage(f)
	left := "      --" + f.Name
	switch {
	case setting:
		left = "  --" + f.Name
	case f.Shorthand != "":
		left = "  -" + f.Shorthand + ", --" + f.Name
	}
	if hint := valueHint(name); hint != "" {
		left += "=" + hint
	}
	return [2]string{left, withDefault(usage, f)}
}

// valueHint is what stands for a value, where pflag knows only its type.
func valueHint(name string) string {
	switch name {
	case "int", "uint", "float", "count":
		return "N"
	case "duration":
		return "TIME"
	case "string", "stringArray":
		return "VALUE"
	case "strings":
		return "VALUE,..."
	}
	return name
}

// withDefault adds the default, unless it is nothing or the text has it.
func withDefault(usage string, f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return usage
	}
	if strings.Contains(usage, "(default") {
		return usage
	}
	return fmt.Sprintf("%s (default: %s).", strings.TrimSuffix(usage, "."), f.DefValue)
}

// What is left of the text in a table is no wider than this; if it is, the text begins
// below it.
const maxLeft = 34

// table adds rows of a name and a text, which is broken to fit.
func (h *help) table(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= maxLeft {
			left = max(left, n+2)
		}
	}
	fmt.Fprintf(&h.b, "\n%s\n", title)
	for _, r := range rows {
		head := r[0]
		if utf8.RuneCountInString(head)+2 > left {
			h.b.WriteString(head + "\n")
			head = ""
		}
		for _, line := range wrap(r[1], h.width-left) {
			fmt.Fprintf(&h.b, "%-*s%s\n", left, head, line)
			head = ""
		}
	}
}

// wrap breaks text at spaces into lines no longer than width; a longer word has a line to
// itself. Of no text it makes no line.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
