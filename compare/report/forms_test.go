package report_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/measure"
	"incumbent/compare/report"
)

// forms write a report.
var forms = map[string]func(io.Writer, report.Report) error{
	"txt": report.First, "md": report.Markdown, "html": report.HTML,
}

// write writes a report in a form.
func written(t *testing.T, form string, rep report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := forms[form](&b, rep); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestForms keeps all forms of hand-made reports. The page is kept once: its tables are
// those of Markdown.
func TestForms(t *testing.T) {
	all := reports()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, form := range []string{"txt", "md", "html"} {
			text := written(t, form, all[name])
			if text != written(t, form, all[name]) {
				t.Errorf("%s.%s: differs when it is written again", name, form)
			}
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
				t.Errorf("%s.%s: has NaN, Inf or a bad format", name, form)
			}
			if form != "html" || name == "met" {
				golden(t, "form-"+name+"."+form, []byte(text))
			}
		}
	}
}

// TestFirstFits: 24 lines of 80 columns, whatever is in the report.
func TestFirstFits(t *testing.T) {
	all := reports()
	all["hostile"] = attacked(hostile)
	five := reportOf(made(100_000, []compare.Mode{single, quorum3, quorum5, {Kind: "quorum", Masters: 7}, {Kind: "quorum", Masters: 9}},
		"resign", "crash", "restart-empty", "failover", "calm", "random"))
	five.Next += strings.Repeat(" --and-so-on", 12)
	all["five"] = five
	for name, rep := range all {
		text := written(t, "txt", rep)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("%s: %d lines:\n%s", name, len(lines), text)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r > 0x7e }) {
				t.Errorf("%s: not ASCII, or a control character: %q", name, line)
			}
		}
	}
}

// TestAlarmsComeFirst: whoever reads two lines of a bad report knows that it is bad.
func TestAlarmsComeFirst(t *testing.T) {
	all := reports()
	for name, want := range map[string]string{"broken": "RULES BROKEN", "interrupted": "INCOMPLETE", "nothing": "INCOMPLETE"} {
		for form := range forms {
			text := written(t, form, all[name])
			at, verdict := strings.Index(text, want), max(strings.Index(text, "to lead at once"), strings.Index(text, "AT ONCE"), strings.Index(text, "Nothing was"))
			if at < 0 || verdict < at {
				t.Errorf("%s.%s: %q is at %d, the verdict at %d", name, form, want, at, verdict)
			}
		}
	}
	if text := written(t, "html", all["broken"]); !strings.Contains(text, `<p class="alarm" role="alert">RULES BROKEN`) {
		t.Error("the alarm is not marked")
	}
}

var tag = regexp.MustCompile(`<(/?[a-zA-Z]+)(?:\s+([a-zA-Z:-]+)=)?`)

// TestHostileText: what comes from elsewhere adds no element, no attribute and no line.
func TestHostileText(t *testing.T) {
	words := strings.Count(hostile, " ") + 1 // each word of a command is an element
	tame := strings.TrimSpace(strings.Repeat("tame ", words))
	shape := func(text string) (list []string) {
		for _, m := range tag.FindAllStringSubmatch(text, -1) {
			list = append(list, m[1]+" "+m[2])
		}
		return list
	}
	if got, want := shape(written(t, "html", attacked(hostile))), shape(written(t, "html", attacked(tame))); !slices.Equal(got, want) {
		for i := range got {
			if i >= len(want) || got[i] != want[i] {
				t.Fatalf("element %d is %q", i, got[i])
			}
		}
		t.Fatal("elements are missing")
	}
	got, want := written(t, "md", attacked(hostile)), written(t, "md", attacked(tame))
	if a, b := strings.Count(got, "\n"), strings.Count(want, "\n"); a != b {
		t.Errorf("Markdown has %d lines, want %d", a, b)
	}
	for _, line := range strings.Split(got, "\n")[1:] {
		prose := regexp.MustCompile("(``+) .*? ``+").ReplaceAllString(line, "") // code is shown as it is
		if strings.ContainsAny(prose, "<\x1b") || regexp.MustCompile(`[^\\]\]\(|[^\\]\[x|://|[^\\]!\[|@you`).MatchString(prose) {
			t.Errorf("Markdown has markup: %s", line)
		}
	}
}

// TestPageLoadsNothing: no script and no address in it.
func TestPageLoadsNothing(t *testing.T) {
	text := written(t, "html", reports()["whole"])
	for _, bad := range []string{"<script", "http:", "https:", "@import", "url(", "src=", "srcset"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

// TestIDsAreUnique: a title must not name another picture.
func TestIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(written(t, "html", reports()["whole"]), -1) {
		if seen[m[1]] {
			t.Errorf("id %s is there twice", m[1])
		}
		seen[m[1]] = true
	}
}

// TestPageIsSmall: of all faults in three modes, with 500 runs a cell.
func TestPageIsSmall(t *testing.T) {
	r := made(500, []compare.Mode{single, quorum3, quorum5}, fault.Names()...)
	text := written(t, "html", reportOf(r))
	if n := len(text); n > 3<<20 {
		t.Errorf("%d bytes for %d cells", n, len(r.Cells))
	}
	t.Log(fmt.Sprint(len(text)>>10, " KiB for ", len(r.Cells), " cells"))
}

// TestStalledActsAreNoFaultOfGuards: a random schedule stops leaders between check and
// act, so that its late acts are not counted against the guards.
func TestStalledActsAreNoFaultOfGuards(t *testing.T) {
	r := made(20, []compare.Mode{single}, "restart-empty", "random")
	for i := range r.Cells {
		if r.Cells[i].Fault == "random" {
			r.Cells[i] = overlapping(r.Cells[i], 3, 900)
			r.Cells[i].BeliefWindow, r.Cells[i].BeliefOverlap = measure.Quantiles{}, measure.Quantiles{N: 20}
		}
	}
	if text := written(t, "md", reportOf(r)); !strings.Contains(text, "0 of 20 / 1,399 ms") {
		t.Errorf("the row is not of restart-empty only:\n%s", text)
	}
}

// TestMissingSuccessorMissesTheSLO: the worst of those that came says nothing of one
// that did not.
func TestMissingSuccessorMissesTheSLO(t *testing.T) {
	rep := reportOf(made(20, []compare.Mode{single, quorum3}, "crash"))
	rep.Decision = decision(true)
	rep.Result.Cells[0].Failover.N--
	text := written(t, "md", rep)
	if !strings.Contains(text, "1,974 ms, MISSED") || !strings.Contains(text, "no successor in 1 of 20 runs") || !strings.Contains(text, "1,975 ms, met") {
		t.Errorf("a run without a successor passes:\n%s", text)
	}
}

// TestConclusionComesFirst: an answer is the first thing on the screen, whole, and what
// could not be told is not called a miss.
func TestConclusionComesFirst(t *testing.T) {
	all := reports()
	for name, want := range map[string]struct{ begins, has, hasNot string }{
		"undecided":  {"NOT DECIDED failover=3s,overlap=0,fence=yes: ", "SLO 3s: too few runs", "MISSED"},
		"impossible": {"NO MODE FITS failover=20ms: one requirement must give way.", "Next: relax a limit (docs/choosing.md", "Next: incumbent"},
		"missed":     {"NO MODE FITS failover=1s: ", "SLO 1s: MISSED", "NOT DECIDED"},
		"met":        {"For failover=10s choose single with TTL 2s", "SLO 10s: met", "MISSED"},
	} {
		text := written(t, "txt", all[name])
		prose := strings.Split(text, "\n")
		first := slices.IndexFunc(prose, func(line string) bool { return strings.HasPrefix(line, want.begins[:10]) })
		if first < 2 || first > 4 || !strings.HasPrefix(strings.Join(prose[first:], " "), want.begins) || !strings.Contains(text, want.has) || strings.Contains(text, want.hasNot) {
			t.Errorf("%s: the conclusion is in line %d:\n%s", name, first, text)
		}
	}
}

// TestVerdictFitsItsCell: what a column has no room for is left out, not cut.
func TestVerdictFitsItsCell(t *testing.T) {
	rep := reports()["undecided"]
	rep.Decision.SLO.Failover.Max = 10 * time.Second
	if text := written(t, "txt", rep); !strings.Contains(text, " SLO: too few runs ") || strings.Contains(text, "too few ru>") {
		t.Errorf("it does not fit:\n%s", text)
	}
}

// TestWordsNameTheLab: a report defines the lab that it is of, and no other; where
// processes are real it says what their acts may do.
func TestWordsNameTheLab(t *testing.T) {
	titles := map[string]string{"virtual": "Virtual lab", "local": "Local lab", "sentinel": "Sentinel lab", "remote": "Remote lab"}
	for lab := range titles {
		rep := reports()["whole"]
		rep.Result.Lab = lab
		_, words, _ := strings.Cut(written(t, "md", rep), "## What the words mean")
		for other, title := range titles {
			if strings.Contains(words, "**"+title+"**") != (lab == other) {
				t.Errorf("lab %s: %s is defined, or is not:\n%s", lab, title, words)
			}
		}
		if strings.Contains(words, "**Late acts of real processes**") != (lab != "virtual") {
			t.Errorf("lab %s: late acts are explained, or are not:\n%s", lab, words)
		}
	}
}

// TestConditionsAreSaid: what was not as usual stands in every form.
func TestConditionsAreSaid(t *testing.T) {
	rep := reports()["undecided"]
	for form := range forms {
		text := strings.Join(strings.Fields(strings.ReplaceAll(written(t, form, rep), "\u00a0", " ")), " ")
		if !strings.Contains(text, "3 candidates, renewed every 300ms, zone links, loss 0.01, drift 0.5 %, 5 runs a cell") {
			t.Errorf("%s lacks the conditions:\n%s", form, text)
		}
	}
	if text := written(t, "txt", reports()["off"]); !strings.Contains(text, "guards off, schedule") || strings.Contains(text, "leases and guards rule") {
		t.Errorf("guards are claimed that were off:\n%s", text)
	}
}

// TestBeyondGuards: what no guard closes is on the first screen.
func TestBeyondGuards(t *testing.T) {
	text := written(t, "txt", reportOf(made(20, []compare.Mode{single}, "crash", "old-primary", "clock-jump-new")))
	if !strings.Contains(text, "beyond guards   4,305 ms 80% of 40") {
		t.Errorf("it is not:\n%s", text)
	}
}

// TestWorstPauseIsShown: of all modes, the one in which acts overlapped for longest.
func TestWorstPauseIsShown(t *testing.T) {
	r := made(20, []compare.Mode{single, quorum3, quorum5}, "pause-write")
	r.Worst[1].Figures.ActOverlap *= 2
	if text := written(t, "md", reportOf(r)); !strings.Contains(text, "The worst pause: pause-write, quorum3,") {
		t.Errorf("another pause is shown:\n%s", text)
	}
}
