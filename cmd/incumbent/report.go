package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"incumbent/compare/benchfile/tabulate"
)

// exitInconclusive: no gate failed, but one had too few samples to decide.
const exitInconclusive = 4

// reportCommand is "incumbent report".
type reportCommand struct {
	Files           []string
	Baseline        []string
	Gate            []string
	Columns         string
	Units           []string
	Ignore          []string
	Format          string
	AllowIncomplete bool
}

func newReportCommand(a *app) *cobra.Command {
	r := reportCommand{Format: "text"}
	c := &cobra.Command{
		Use: "report FILE...", Short: "Compare benchmark files row by row, and fail on a regression.",
		Long: aboutReport, Example: reportExample, Args: takes(1, "FILE..."), ValidArgsFunction: completeFiles,
		RunE: func(c *cobra.Command, args []string) error {
			r.Files = args
			return r.run(a)
		},
	}
	f := c.Flags()
	f.Var(repeatedFlag(&r.Baseline, "FILE"), "baseline", "Compare with this file, as new with old; may be repeated.")
	f.Var(repeatedFlag(&r.Gate, "UNIT:LIMIT"), "gate", "Fail if a result is worse than the baseline by more than this, "+
		"as in overshoot-sec:+10% or overshoot-sec:+5ms; may be repeated.")
	f.Var(textFlag(&r.Columns, "mode|file"), "columns", "What to put side by side without a baseline (default: modes if there are any, else files).")
	f.Var(severalFlag(&r.Units, "UNIT"), "units", "Show only these units, as in overshoot-sec.")
	f.Var(severalFlag(&r.Ignore, "KEY"), "ignore", "Settings (cpu) and parts of names (/fault) that keep nothing apart.")
	f.Var(textFlag(&r.Format, "FORMAT"), "format", "text, markdown, csv, json or html.")
	f.BoolVar(&r.AllowIncomplete, "allow-incomplete", false, "Exit with 0 although a file may not hold its whole run.")
	completes(c, "columns", "mode", "file")
	completes(c, "format", "text", "markdown", "csv", "json", "html")
	return c
}

const reportExample = `  incumbent report results/results.txt
  incumbent report new.txt --baseline old.txt
  incumbent report new.txt --baseline old.txt --gate overshoot-sec:+10% --gate B/op:+1KiB
  go test -bench . -count 10 ./bench | incumbent report - --format markdown`

const aboutReport = `FILE is the output of go test -bench, or results.txt of incumbent compare; - is standard input.

Each benchmark is a row, each mode or file a column: the median with its 95 % interval, and how it
compares with the first column: the difference, p of the Mann-Whitney U test, and a verdict. With
fewer than six samples a column the verdict is often "inconclusive", with the number that would do;
run go test with -count. Whether higher or lower is better comes from the files ("Unit NAME
better=lower"); where no file says so, a difference is only "changed".

A gate is decided row by row. It fails if a difference is seen and is worse than the limit, if a
row of the baseline is missing, or if samples are not finite. It is inconclusive if there are too
few samples. The limit must have a unit: % of the baseline, ns, us, ms or s for times, B or KiB
and so on for bytes, or the end of the unit itself: stale-accepted-fenced/run:0/run.

Files may be UTF-8 or UTF-16, end their lines as they like, and have log lines in between. The
output is ASCII unless LC_ALL, LC_CTYPE or LANG names UTF-8.

Exit code: 0 all is well; 1 a gate failed, a file may not hold its whole run (a line says why), or a
file could not be read; 2 wrong usage; 4 no gate failed, but one is inconclusive.`

// run reads the files and prints the report.
func (c *reportCommand) run(a *app) error {
	gates, err := c.check()
	if err != nil {
		return a.misused("report", fmt.Errorf("--%w", err))
	}
	collection, err := tabulate.NewCollection(tabulate.Options{Columns: c.Columns, Units: c.Units, Ignore: c.Ignore})
	if err != nil {
		return a.misused("report", fmt.Errorf("--%w", err))
	}
	defer lean()()
	if err := c.read(a.in, collection); err != nil {
		return err
	}
	r := collection.Report()
	if err := r.Check(gates); err != nil {
		return a.misused("report", fmt.Errorf("--gate: %w", err))
	}
	a.code = c.exitCode(r)
	if err := c.write(a.out, r); err != nil {
		return err
	}
	return c.remark(a.err, r)
}

// check looks at the flags. The error begins with the flag.
func (c *reportCommand) check() ([]tabulate.Gate, error) {
	var gates []tabulate.Gate
	for _, text := range c.Gate {
		g, err := tabulate.ParseGate(text)
		if err != nil {
			return nil, fmt.Errorf("gate: %w", err)
		}
		gates = append(gates, g)
	}
	if len(gates) > 0 && len(c.Baseline) == 0 {
		return nil, errors.New("gate: needs --baseline FILE to compare with")
	}
	if c.Columns != "" && len(c.Baseline) > 0 {
		return nil, errors.New("columns: with --baseline the columns are old and new")
	}
	if _, ok := formats[c.Format]; !ok {
		return nil, fmt.Errorf("format: %q: must be text, markdown, csv, json or html", c.Format)
	}
	return gates, c.distinct()
}

// distinct refuses a file that is given twice: its samples would count twice, and
// make every difference look certain.
func (c *reportCommand) distinct() error {
	seen := map[string]bool{}
	for _, name := range append(c.Files[:len(c.Files):len(c.Files)], c.Baseline...) {
		path := name
		if full, err := filepath.EvalSymlinks(name); err == nil {
			path = full
		}
		if full, err := filepath.Abs(path); err == nil && name != "-" {
			path = full
		}
		if seen[path] {
			return fmt.Errorf("baseline: %s: must be given once among all files", name)
		}
		seen[path] = true
	}
	return nil
}

// lean keeps memory low while files are read, at the price of some time: of a file of
// 200 MB most bytes are garbage once they are read. It returns what undoes that.
func lean() func() {
	percent := debug.SetGCPercent(30)
	return func() { debug.SetGCPercent(percent) }
}

// read adds all files, the baseline first.
func (c *reportCommand) read(stdin io.Reader, to *tabulate.Collection) error {
	for _, name := range c.Baseline {
		if err := addFile(to, stdin, name, tabulate.Old); err != nil {
			return err
		}
	}
	for _, name := range c.Files {
		if err := addFile(to, stdin, name, tabulate.New); err != nil {
			return err
		}
	}
	return nil
}

func addFile(to *tabulate.Collection, stdin io.Reader, name string, side tabulate.Side) error {
	if name == "-" {
		return to.Add(stdin, "standard input", side)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return to.Add(f, name, side)
}

// formats write a report.
var formats = map[string]func(*tabulate.Report, io.Writer, bool) error{
	"text":     (*tabulate.Report).WriteText,
	"markdown": (*tabulate.Report).WriteMarkdown,
	"csv":      func(r *tabulate.Report, w io.Writer, _ bool) error { return r.WriteCSV(w) },
	"json":     func(r *tabulate.Report, w io.Writer, _ bool) error { return r.WriteJSON(w) },
	"html":     func(r *tabulate.Report, w io.Writer, _ bool) error { return r.WriteHTML(w) },
}

func (c *reportCommand) write(out io.Writer, r *tabulate.Report) error {
	return formats[c.Format](r, out, !unicodeLocale(os.Getenv))
}

// unicodeLocale reports whether the environment says that UTF-8 can be shown.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set decides
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// exitCode: what failed is worse than what could not be decided.
func (c *reportCommand) exitCode(r *tabulate.Report) int {
	switch {
	case r.Status() == tabulate.Failed, r.Verdict.Incomplete && !c.AllowIncomplete:
		return exitFailed
	case r.Status() == tabulate.Undecided:
		return exitInconclusive
	}
	return exitOK
}

// remark repeats on standard error why the exit code is not 0: formats for programs
// have no room for it, and in a log it is the last line.
func (c *reportCommand) remark(stderr io.Writer, r *tabulate.Report) error {
	var b strings.Builder
	for _, f := range r.Files {
		for _, why := range f.Incomplete {
			fmt.Fprintf(&b, "incumbent: report: %s: incomplete run: %s\n", f.Name, why)
		}
	}
	for _, o := range r.Gates {
		if o.Status != tabulate.Passed {
			fmt.Fprintf(&b, "incumbent: report: gate %s: %s: %s: %s\n", o.Gate, o.Status, o.Row, o.Text)
		}
	}
	_, err := io.WriteString(stderr, b.String())
	return err
}
