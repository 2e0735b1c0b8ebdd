package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/history"
)

// ADRFile is the name of the decision record in an output directory.
const ADRFile = "adr.md"

//go:embed adr.tmpl
var adrText string

var adrTemplate = template.Must(template.New(ADRFile).Funcs(template.FuncMap{"text": plainText, "code": codeSpan}).Parse(adrText))

// ADR is a decision record in the layout of MADR 4, with that date. Its status is
// "proposed": whether a record holds is for people to say. Where no requirements were
// given it leaves the choice open, in a line of its own; where the run is no basis for
// one it says so. All text from elsewhere is escaped.
func ADR(date time.Time) Document {
	return Document{ADRFile, func(w io.Writer, rep Report) error {
		return adrTemplate.Execute(w, newADR(rep, date))
	}}
}

// adr is what the template is filled with.
type adr struct {
	Generator, Date, Title string
	Modes                  []string
	Caption                string
	Alarms                 []string

	SLO          string
	Drivers      []decide.Requirement
	Head         []string
	Rows         [][]string
	Outcome      []string
	Open         bool
	Consequences []argument
	Command      string
	Simulated    bool // so that the command gives the same again
	Confirm      []confirmation
	Options      []adrOption
	Notes        []string
	Facts        [][2]string
}

// A confirmation is a command and what it is for.
type confirmation struct{ About, Command string }

// adrOption is an option with what speaks for it and against it.
type adrOption struct {
	Name, About string
	Arguments   []argument
}

// An argument is Good, Bad or Neutral, because of something.
type argument struct{ Kind, Because string }

func good(format string, args ...any) argument    { return because("Good", format, args) }
func bad(format string, args ...any) argument     { return because("Bad", format, args) }
func neutral(format string, args ...any) argument { return because("Neutral", format, args) }

func because(kind, format string, args []any) argument {
	return argument{kind, strings.TrimSuffix(fmt.Sprintf(format, args...), ".") + "."}
}

func newADR(rep Report, date time.Time) adr {
	r := rep.Result
	a := adr{
		Generator: generatedComment, Date: date.Format(time.DateOnly), Caption: caption(r), Alarms: alarms(r),
		Title: "Elect a leader with Redis: in which mode?", Command: rep.Command, Simulated: r.Lab == history.Virtual, Confirm: confirmations(rep), Facts: facts(rep),
	}
	for _, m := range r.Plan.Modes {
		a.Modes = append(a.Modes, m.String())
		a.Options = append(a.Options, modeOption(r, m))
	}
	a.Options = append(a.Options, others()...)
	a.outcome(rep.Decision)
	a.Consequences = consequences(r, rep.Decision)
	return a
}

// outcome fills in what was asked for and what came of it.
func (a *adr) outcome(d *decide.Decision) {
	if d == nil {
		a.Open = true
		a.Outcome = []string{"Open. No requirements were given (flag --slo), so nothing is chosen here. What was measured stands below, for each option."}
		return
	}
	a.SLO, a.Drivers, a.Notes = d.SLO.String(), d.SLO.Requirements(), d.Notes
	a.Head, a.Rows = checked(d)
	switch c := d.Choice; {
	case d.Met && c != nil:
		a.Title = "Elect a leader with Redis in mode " + c.Mode.String()
		a.Outcome = []string{
			fmt.Sprintf("Chosen option: %s, with a TTL of %s and a renewal every %s, since it is the cheapest that keeps to all drivers.",
				c.Mode, duration(c.TTL), duration(c.Renew)),
			d.Reason,
		}
	default:
		a.Open = true
		a.Outcome = []string{"Nothing is chosen: no mode that was played keeps to all drivers.", d.Reason}
		if d.Undecided() {
			a.Outcome[0] = "Nothing is chosen: it was not measured enough to tell."
		}
		if len(a.Alarms) > 0 {
			a.Outcome[0] = "Nothing is chosen: this run is no basis for a decision."
		}
	}
}

// checked is a table of the drivers, with what was found of each in each mode.
func checked(d *decide.Decision) (head []string, rows [][]string) {
	head = []string{"driver", "asked for"}
	for _, o := range d.Options {
		head = append(head, o.Mode.String())
	}
	for _, q := range d.SLO.Requirements() {
		row := []string{q.Key, q.Rule}
		for _, o := range d.Options {
			row = append(row, verdictOn(o, q.Key))
		}
		rows = append(rows, row)
	}
	return head, rows
}

// verdictOn is how a mode stands to a driver.
func verdictOn(o decide.Option, key string) string {
	for _, c := range o.Checks {
		switch {
		case c.Key != key:
		case c.State == decide.Met:
			return "met: " + c.Value
		case c.State == decide.NotMeasured:
			return strings.TrimSuffix("not measured: "+c.Add, ": ")
		default:
			return "MISSED: " + c.Value
		}
	}
	return ""
}

// confirmations are commands that test the record, with seeds that it does not rest on.
func confirmations(rep Report) []confirmation {
	r, d := rep.Result, rep.Decision
	switch {
	case d == nil && len(r.Broken)+len(r.Failed) > 0:
		return []confirmation{{"Look into what went wrong:", rep.Next}}
	case d == nil:
		return []confirmation{{"Play it with seeds that were not played yet:", decide.Confirm(r, decide.SLO{})}}
	}
	var list []confirmation
	if d.Met {
		list = append(list, confirmation{"Hold it against the drivers again, with seeds that were not played yet; it exits with 0 when a mode keeps to them:",
			decide.Confirm(r, d.SLO)})
	}
	if d.Next != "" {
		list = append(list, confirmation{"Measure what was worked out, or what is missing:", d.Next})
	}
	return list
}

// facts are what the record rests on.
func facts(rep Report) [][2]string {
	var list [][2]string
	for _, f := range [][2]string{
		{"Versions", rep.Versions}, {"Host", rep.Host}, {"Seeds", seeds(rep.Result.Plan)}, {"Played", played(rep.Result)},
		{"Conditions", caption(rep.Result)}, {"Figures of other electors", decide.OthersSource},
	} {
		if f[1] != "" {
			list = append(list, f)
		}
	}
	return list
}

// consequences are those of the choice, and one that every choice has.
func consequences(r *compare.Result, d *decide.Decision) []argument {
	var list []argument
	if d != nil && d.Choice != nil {
		list = modeOption(r, d.Choice.Mode).Arguments
	}
	return append(list, bad("no elector stops an act that is on its way when its process is paused: %s. The resource must compare tokens, or the work must be idempotent.",
		pausedActs(r)))
}
