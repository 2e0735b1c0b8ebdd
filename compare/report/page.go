package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/history"
)

//go:embed page
var pageFiles embed.FS

// page is what the template of report.html is filled with.
type page struct {
	Title       string
	Contents    []part
	Style       template.CSS
	Screen      screen
	Under       string // what stands under every figure
	Worst       *chart
	Decision    *decision
	Problems    []problem
	Keys        []modeKey
	CDFs        []chart
	Overshoots  []chart
	Cost        *chart
	Remote      *remotePart
	Heat        *heat
	Runs        []faultRuns
	Full        fullTable
	Definitions []definition

	Versions, Host, Command, Played string
	Virtual                         bool
}

// A part is a heading of the page.
type part struct{ ID, Title string }

// contents lists the parts that a page has.
func (p *page) contents() (list []part) {
	for _, c := range []struct {
		there bool
		part
	}{
		{p.Decision != nil, part{"decision", "Decision"}}, {len(p.Problems) > 0, part{"problems", "What went wrong"}},
		{len(p.CDFs) > 0, part{"failover", "Failover"}}, {len(p.Overshoots) > 0, part{"overshoot", "Overshoot"}}, {true, part{"cost", "Cost"}}, {p.Remote != nil, part{"remote", "Your endpoints"}},
		{p.Heat != nil, part{"dangers", "Dangers"}}, {len(p.Runs) > 0, part{"runs", "Worst runs"}}, {true, part{"all", "All cells"}},
		{true, part{"definitions", "What the words mean"}}, {true, part{"repeat", "Repeat it"}},
	} {
		if c.there {
			list = append(list, c.part)
		}
	}
	return list
}

// A modeKey says how a mode is drawn.
type modeKey struct{ Mode, Class string }

// A problem is a broken rule or a run that could not be played, and how to play it
// again.
type problem struct{ Text, Command string }

// pageTemplate is parsed once: it is part of the program.
var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{"nb": unbroken, "words": func(s string) []string { return strings.Split(s, " ") }}).ParseFS(pageFiles, "page/page.html"))

// HTML writes the report as one page that loads nothing: no script, no font, no
// picture from elsewhere. The same report gives the same bytes.
func HTML(w io.Writer, rep Report) error {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	r := rep.Result
	p := page{
		Title: title(r), Style: template.CSS(style), Screen: newScreen(rep), Under: under(r), Worst: worstPause(r),
		Decision: newDecision(rep.Decision), Problems: problems(r), CDFs: cdfs(r), Overshoots: overshoots(r), Heat: newHeat(r),
		Runs: worstRuns(r), Full: newFullTable(r), Definitions: definitions(r.Lab),
		Versions: rep.Versions, Host: rep.Host, Command: rep.Command, Played: played(r), Virtual: r.Lab == history.Virtual,
	}
	p.Remote = newRemote(r.Remote)
	if c, ok := costs(r); ok {
		p.Cost = &c
	}
	for _, m := range r.Plan.Modes {
		p.Keys = append(p.Keys, modeKey{m.String(), modeClass(r, m.String())})
	}
	p.Contents = p.contents()
	return pageTemplate.Execute(w, p)
}

// title names what was compared.
func title(r *compare.Result) string {
	var modes []string
	for _, m := range r.Plan.Modes {
		modes = append(modes, m.String())
	}
	return fmt.Sprintf("Leader election compared: %s under %s", list(modes), times(len(r.Plan.Faults)+len(r.Plan.Schedules), "fault"))
}

// under is what stands under every figure but its number of runs.
func under(r *compare.Result) string {
	return fmt.Sprintf("%s%s, TTL %s%s, %s.", strings.ToUpper(labWords(r.Lab)[:1]), labWords(r.Lab)[1:], duration(r.Plan.TTL), conditions(r.Plan), seeds(r.Plan))
}

// played says how much was.
func played(r *compare.Result) string {
	return fmt.Sprintf("%s of %s; %s", grouped(r.Runs), times(r.Plan.Total(), "run"), times(r.Acts, "act"))
}

// unbroken keeps numbers and their units on one line.
func unbroken(v any) string {
	return unbreakable.Replace(fmt.Sprint(v))
}

var unbreakable = strings.NewReplacer(" ms", "\u00a0ms", " %", "\u00a0%", "TTL ", "TTL\u00a0", " of ", "\u00a0of\u00a0", "n ", "n\u00a0")

// problems lists broken rules, then failed runs, as far as they are shown.
func problems(r *compare.Result) (list []problem) {
	for i, b := range r.Broken {
		if i == shown {
			list = append(list, problem{fmt.Sprintf("and %s more", times(len(r.Broken)-shown, "violation")), ""})
			break
		}
		list = append(list, problem{fmt.Sprintf("seed %d: %s", b.Job.Seed, b.Violation), b.Job.Command(r.Lab)})
	}
	for i, f := range r.Failed {
		if i == shown {
			list = append(list, problem{fmt.Sprintf("and %s more that failed", times(len(r.Failed)-shown, "run")), ""})
			break
		}
		list = append(list, problem{fmt.Sprintf("seed %d could not be played: %v", f.Job.Seed, f.Err), f.Job.Command(r.Lab)})
	}
	return list
}

// decision is a decision in words.
type decision struct {
	SLO, Reason string
	Met         bool
	// State is Met, Not met or Not decided, with a full stop.
	State   string
	Notes   []string
	Options []option
}

// option is a mode of a decision, in words.
type option struct {
	Mode, TTL, Renew, Failover, Servers, Rate string
	Fits                                      bool
	// Answer is Fits in a word: yes, no, or that it could not be told.
	Answer string
	Misses []string
}

// newDecision writes a decision in words; nil for none.
func newDecision(d *decide.Decision) *decision {
	if d == nil {
		return nil
	}
	out := &decision{SLO: d.SLO.String(), Reason: d.Reason, Met: d.Met, State: "Not met.", Notes: d.Notes}
	switch {
	case d.Met:
		out.State = "Met."
	case d.Undecided():
		out.State = "Not decided."
	}
	for _, o := range d.Options {
		words := option{Mode: o.Mode.String(), TTL: "-", Renew: "-", Failover: "-", Servers: grouped(o.Servers), Rate: "not measured", Fits: o.Fits, Answer: "no", Misses: o.Misses}
		switch {
		case o.Fits:
			words.Answer = "yes"
		case d.Flaw != "" || o.Undecided():
			words.Answer = "not decided"
		}
		if o.TTL > 0 {
			words.TTL, words.Renew = duration(o.TTL), duration(o.Renew)
		}
		if o.Failover > 0 {
			words.Failover = millis(milliseconds(o.Failover))
		}
		if o.Rate > 0 {
			words.Rate = decide.PerSecond(o.Rate)
		}
		out.Options = append(out.Options, words)
	}
	return out
}
