package tabulate_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"incumbent/compare/benchfile/tabulate"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (rewrite it with -update, and read the diff):\n%s", path, got)
	}
}

// file makes a benchmark file: a line for each value of each benchmark.
func file(unit string, head string, samples ...any) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; i < len(samples); i += 2 {
		for _, v := range samples[i+1].([]float64) {
			fmt.Fprintf(&b, "Benchmark%s 1 %v %s\n", samples[i], v, unit)
		}
	}
	return b.String() + "PASS\n"
}

const lower = "Unit x-sec better=lower\n"

// report reads files, those that begin with "old:" as the baseline.
func report(t *testing.T, o tabulate.Options, files ...string) *tabulate.Report {
	t.Helper()
	c, err := tabulate.NewCollection(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range files {
		side := tabulate.New
		if old, ok := strings.CutPrefix(text, "old:"); ok {
			side, text = tabulate.Old, old
		}
		if err := c.Add(strings.NewReader(text), fmt.Sprintf("file%d", i), side); err != nil {
			t.Fatal(err)
		}
	}
	return c.Report()
}

// only is the comparison of a report with one row and two columns.
func only(t *testing.T, r *tabulate.Report) (first, second tabulate.Cell) {
	t.Helper()
	if len(r.Units) != 1 || len(r.Units[0].Rows) != 1 || len(r.Units[0].Rows[0].Cells) != 2 {
		t.Fatalf("not one row with two columns: %+v", r.Units)
	}
	cells := r.Units[0].Rows[0].Cells
	return cells[0], cells[1]
}

func rendered(t *testing.T, r *tabulate.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b, true); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func times(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// near are n different values around v.
func near(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v * (1 + 0.001*float64(i-n/2))
	}
	return all
}

func TestG06_log_lines_change_nothing(t *testing.T) {
	clean := file("ns/op", "goos: linux\npkg: a\n", "X/mode=single-8", near(8, 100), "X/mode=quorum3-8", near(8, 150))
	const noise = "redis: 2026/01/02 pool.go:1: dial failed\ncpu: 90 % busy\n"
	header, results, _ := strings.Cut(clean, "BenchmarkX")
	noisy := header + "BenchmarkX" + strings.ReplaceAll(results, "\n", "\n"+noise)
	noisy = strings.ReplaceAll(noisy, "-8 1", "-8 \t"+noise+" 1")
	want, got := rendered(t, report(t, tabulate.Options{}, clean)), rendered(t, report(t, tabulate.Options{}, noisy))
	if got != want {
		t.Errorf("with log lines:\n%s\nwithout:\n%s", got, want)
	}
}

func TestG03_same_report(t *testing.T) {
	lf := file("ns/op", "", "X/mode=single-8", near(8, 100), "X/mode=quorum3-8", near(8, 150))
	want := rendered(t, report(t, tabulate.Options{}, lf))
	for _, end := range []string{"\r\n", "\r"} {
		if got := rendered(t, report(t, tabulate.Options{}, strings.ReplaceAll(lf, "\n", end))); got != want {
			t.Errorf("with %q:\n%s\nwant:\n%s", end, got, want)
		}
	}
}

// TestG07_zeros_stay: zeros and other values of a unit are one sample.
func TestG07_zeros_stay(t *testing.T) {
	r := report(t, tabulate.Options{}, file("split-ns", "", "X", []float64{0, 0, 0, 0, 0, 7e6}))
	if len(r.Units) != 1 || r.Units[0].Name != "split-sec" {
		t.Fatalf("units are %+v", r.Units)
	}
	c := r.Units[0].Rows[0].Cells[0]
	if c.N != 6 || c.Median != 0 || c.Min != 0 || math.Abs(c.Max-0.007) > 1e-12 || math.Abs(c.Mean-0.007/6) > 1e-12 {
		t.Errorf("cell is %+v", c)
	}
}

// TestG07_not_finite: a value that is not finite is in no figure, but is not forgotten.
func TestG07_not_finite(t *testing.T) {
	bad := append(near(6, 5), math.NaN(), math.Inf(1), 1e300)
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", near(6, 5)), file("x-sec", "", "X", bad))
	_, c := only(t, r)
	if c.N != 6 || c.NotFinite != 3 || c.Max > 6 || c.Versus.Verdict != tabulate.Same {
		t.Errorf("cell is %+v", c)
	}
	check(t, r, "x-sec:+10%", tabulate.Failed, "3 of 9 samples are NaN or infinite")
	all := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", near(6, 5)), file("x-sec", "", "X", []float64{math.NaN()}))
	check(t, all, "x-sec:+10%", tabulate.Failed, "1 of 1 samples")
	old := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", []float64{math.NaN()}), file("x-sec", "", "X", near(6, 5)))
	check(t, old, "x-sec:+10%", tabulate.Undecided, "baseline are NaN")
}

// check applies a gate to a report that has one row.
func check(t *testing.T, r *tabulate.Report, gate string, want tabulate.Status, text string) {
	t.Helper()
	g, err := tabulate.ParseGate(gate)
	if err != nil {
		t.Fatal(err)
	}
	r.Gates = nil
	if err := r.Check([]tabulate.Gate{g}); err != nil {
		t.Errorf("%s: %v", gate, err)
		return
	}
	if r.Status() != want || !strings.Contains(fmt.Sprint(r.Gates), text) {
		t.Errorf("%s: %s, want %s with %q: %+v", gate, r.Status(), want, text, r.Gates)
	}
}

func TestG09_zero_baseline(t *testing.T) {
	rare := append(times(99, 0), 5)
	for _, tt := range []struct {
		name     string
		old, now []float64
		verdict  tabulate.Verdict
		text     string
		gate     tabulate.Status
	}{
		{"0 to x", times(6, 0), []float64{5, 6, 7, 8, 9, 10}, tabulate.Worse, "+7.50 s p=0.002 worse", tabulate.Failed},
		{"x to 0", []float64{5, 6, 7, 8, 9, 10}, times(6, 0), tabulate.Better, "-100% p=0.002 better", tabulate.Passed},
		{"0 to 0", times(6, 0), times(6, 0), tabulate.Same, "~ all samples equal", tabulate.Passed},
		{"0 to sometimes", times(20, 0), append(times(12, 0), near(8, 5)...), tabulate.Worse, "mean +2.00 s p=0.003 worse", tabulate.Failed},
		{"0 to rarely", times(100, 0), rare, tabulate.Inconclusive, "1 of 100 not 0, needs 600", tabulate.Undecided},
		{"rarely to 0", rare, times(100, 0), tabulate.Same, "~ p=0.", tabulate.Passed},
		{"0 to once, few", times(5, 0), []float64{0, 0, 0, 0, 3}, tabulate.Inconclusive, "1 of 5 not 0, needs 30", tabulate.Undecided},
		{"-0 to 0", times(6, math.Copysign(0, -1)), times(6, 0), tabulate.Same, "all samples equal", tabulate.Passed},
		{"negative", near(6, -10), near(6, -5), tabulate.Worse, "p=0.002 worse", tabulate.Failed},
		{"almost 0 to x", times(6, 5e-300), near(6, 1), tabulate.Worse, "+1.00 s p=0.002 worse", tabulate.Failed},
		{"huge", near(6, -1e289), near(6, 1e289), tabulate.Worse, "worse", tabulate.Failed},
	} {
		r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", tt.old), file("x-sec", "", "X", tt.now))
		_, c := only(t, r)
		text := rendered(t, r)
		if c.Versus.Verdict != tt.verdict || !strings.Contains(text, tt.text) {
			t.Errorf("%s: %s, want %s with %q:\n%s", tt.name, c.Versus.Verdict, tt.verdict, tt.text, text)
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf%") || strings.Contains(text, "?") {
			t.Errorf("%s: not a number:\n%s", tt.name, text)
		}
		check(t, r, "x-sec:+10%", tt.gate, "")
		if v := c.Versus; v.Percent != nil && (*v.Percent > 0) != (*v.Delta > 0) {
			t.Errorf("%s: %v is %v %%", tt.name, *v.Delta, *v.Percent)
		}
	}
}

func TestG10_too_few_samples(t *testing.T) {
	for _, tt := range []struct {
		old, now int
		verdict  tabulate.Verdict
		text     string
		bounded  bool
		gate     tabulate.Status
	}{
		{1, 1, tabulate.Inconclusive, "inconclusive: n = 1, needs 6", false, tabulate.Undecided},
		{3, 3, tabulate.Inconclusive, "inconclusive: n = 3, needs 6", false, tabulate.Undecided},
		{3, 100, tabulate.Inconclusive, "n=100 inconclusive: n = 3, needs 6", true, tabulate.Undecided},
		{5, 5, tabulate.Inconclusive, "inconclusive: n = 5, needs 6", false, tabulate.Undecided},
		{6, 6, tabulate.Same, "n=6 ~ p=1.000", true, tabulate.Passed},
	} {
		r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", near(tt.old, 5)), file("x-sec", "", "X", near(tt.now, 5)))
		_, c := only(t, r)
		if c.Versus.Verdict != tt.verdict || (c.Lo != nil) != tt.bounded || (c.Hi != nil) != tt.bounded {
			t.Errorf("n = %d, %d: %+v", tt.old, tt.now, c)
		}
		text := rendered(t, r)
		if !strings.Contains(text, tt.text) || strings.Contains(text, "+-inf") == (tt.bounded && tt.old == tt.now) {
			t.Errorf("n = %d, %d: want %q:\n%s", tt.old, tt.now, tt.text, text)
		}
		check(t, r, "x-sec:+10%", tt.gate, "")
		everyFormat(t, r)
	}
	// Where the difference is far beyond noise, four are enough to see it, and said so.
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", near(4, 5)), file("x-sec", "", "X", near(4, 9)))
	if _, c := only(t, r); c.Versus.Verdict != tabulate.Worse || c.Lo != nil {
		t.Errorf("n = 4: %+v", c.Versus)
	}
}

// everyFormat writes a report in all formats that programs read, and reads it again.
func everyFormat(t *testing.T, r *tabulate.Report) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("JSON: %v: %s", err, &b)
	}
	b.Reset()
	if err := r.WriteCSV(&b); err != nil {
		t.Error(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Error(err)
	}
	for _, line := range lines[1:] {
		for _, field := range line[6:12] {
			if v, err := strconv.ParseFloat(field, 64); field != "" && (err != nil || math.IsInf(v, 0) || math.IsNaN(v)) {
				t.Errorf("CSV has %q in %q", field, line)
			}
		}
	}
	b.Reset()
	if err := r.WriteMarkdown(&b, false); err != nil || r.Units[0].Rows[0].Cells[0].Lo == nil && !strings.Contains(b.String(), "±∞") {
		t.Errorf("Markdown: %v: %s", err, &b)
	}
	b.Reset()
	if err := r.WriteHTML(&b); err != nil || r.Units[0].Rows[0].Cells[0].Lo == nil && !strings.Contains(b.String(), "±∞") {
		t.Errorf("HTML: %v: %s", err, &b)
	}
}

func TestG11_identical_samples(t *testing.T) {
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", []float64{115, 114, 115, 115, 115}), file("x-sec", "", "X", times(5, 78.8)))
	_, c := only(t, r)
	if v := c.Versus; v.Verdict != tabulate.Better || math.Abs(*v.Percent+31.478) > 0.01 || math.Abs(*v.P-0.008) > 0.0005 {
		t.Errorf("%+v", v)
	}
	r = report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", times(5, 115)), file("x-sec", "", "X", times(5, 115)))
	if _, c := only(t, r); c.Versus.Verdict != tabulate.Same || c.Versus.Note != "all samples equal" {
		t.Errorf("%+v", c.Versus)
	}
	r = report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", times(3, 115)), file("x-sec", "", "X", times(3, 115)))
	if _, c := only(t, r); c.Versus.Verdict != tabulate.Inconclusive {
		t.Errorf("three equal samples: %+v", c.Versus)
	}
}

// TestExact: of a unit that is measured exactly, one sample says all.
func TestExact(t *testing.T) {
	head := lower + "Unit x-sec assume=exact\n"
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", head, "X", times(1, 5)), file("x-sec", "", "X", times(1, 6)))
	if a, c := only(t, r); c.Versus.Verdict != tabulate.Worse || *c.Versus.Percent != 20 || a.Lo == nil || *a.Lo != 5 {
		t.Errorf("%+v", c.Versus)
	}
	r = report(t, tabulate.Options{}, "old:"+file("x-sec", head, "X", times(1, 5)), file("x-sec", "", "X", times(1, 5)))
	if _, c := only(t, r); c.Versus.Verdict != tabulate.Same {
		t.Errorf("%+v", c.Versus)
	}
	// If they vary, they are not exact.
	r = report(t, tabulate.Options{}, "old:"+file("x-sec", head, "X", near(2, 5)), file("x-sec", "", "X", near(2, 6)))
	if _, c := only(t, r); c.Versus.Verdict != tabulate.Inconclusive {
		t.Errorf("%+v", c.Versus)
	}
}

func TestG13_no_row_is_hidden(t *testing.T) {
	r := report(t, tabulate.Options{},
		"old:"+file("x-sec", lower, "A", near(8, 10), "B", near(8, 10)), file("x-sec", "", "A", near(8, 15), "B", near(8, 6.5)))
	if r.Verdict.Worse != 1 || r.Verdict.Better != 1 {
		t.Errorf("verdict %+v", r.Verdict)
	}
	text := rendered(t, r)
	if !strings.Contains(text, "Compared with old: 1 worse, 1 better.") || strings.Contains(text, "geomean") {
		t.Errorf("output:\n%s", text)
	}
	check(t, r, "x-sec:+10%", tabulate.Failed, "+50")
}

func TestG14_direction(t *testing.T) {
	const up = "Unit acquires/s better=higher\n"
	for _, tt := range []struct {
		unit, head string
		now        float64
		verdict    tabulate.Verdict
	}{
		{"acquires/s", up, 12, tabulate.Better},
		{"acquires/s", up, 8, tabulate.Worse},
		{"x-sec", lower, 8, tabulate.Better},
		{"x-sec", lower, 12, tabulate.Worse},
		{"failover-sec", "", 8, tabulate.Changed},
		{"wishes", "", 12, tabulate.Changed},
		{"ns/op", "", 12, tabulate.Worse},
		{"MB/s", "", 12, tabulate.Better},
		{"allocs/op", "", 12, tabulate.Worse},
		{"ns/op", "Unit ns/op better=higher\n", 12, tabulate.Better},
	} {
		// What one file says of a unit holds for both.
		r := report(t, tabulate.Options{}, "old:"+file(tt.unit, "", "X", near(8, 10)), file(tt.unit, tt.head, "X", near(8, tt.now)))
		if _, c := only(t, r); c.Versus.Verdict != tt.verdict {
			t.Errorf("%s %q from 10 to %v: %s, want %s", tt.unit, tt.head, tt.now, c.Versus.Verdict, tt.verdict)
		}
	}
	c, err := tabulate.NewCollection(tabulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(strings.NewReader(file("x-sec", lower, "X", near(2, 1))), "old.txt", tabulate.Old); err != nil {
		t.Fatal(err)
	}
	err = c.Add(strings.NewReader(file("x-sec", "Unit x-sec better=higher\n", "X", near(2, 1))), "new.txt", tabulate.New)
	if err == nil || err.Error() != "new.txt:1: unit x-sec: better=higher, but old.txt:1 says better=lower" {
		t.Errorf("files that differ: %v", err)
	}
}

func TestG18_different_cpu(t *testing.T) {
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X-8", near(8, 10)), file("x-sec", "", "X-16", near(8, 10)))
	rows := r.Units[0].Rows
	if len(rows) != 2 || rows[0].Name != "X-8" || rows[0].Note != "unmatched: different -cpu: here 8, there 16" || rows[1].Note != "unmatched: different -cpu: here 16, there 8" {
		t.Errorf("rows are %+v", rows)
	}
	if rows[0].Cells[1].Versus.Verdict != tabulate.Unmatched || !strings.Contains(rendered(t, r), "different -cpu") {
		t.Errorf("output:\n%s", rendered(t, r))
	}
	check(t, r, "x-sec:+10%", tabulate.Failed, "different -cpu")
	r = report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", near(8, 10)), file("x-sec", "", "X-16", near(8, 10)))
	if note := r.Units[0].Rows[0].Note; note != "unmatched: different -cpu: here none, there 16" {
		t.Errorf("note is %q", note)
	}
	// The same with settings, which can be ignored.
	one, two := file("x-sec", lower+"cpu: A\nttl: 2s\n", "X/a=1", near(8, 10)), file("x-sec", "cpu: B\nttl: 2s\n", "X/a=2", near(8, 10))
	r = report(t, tabulate.Options{}, "old:"+strings.ReplaceAll(one, "a=1", "a=2"), two)
	if note := r.Units[0].Rows[0].Note; note != "unmatched: different cpu: here A, there B (--ignore cpu compares them)" {
		t.Errorf("note is %q", note)
	}
	r = report(t, tabulate.Options{Ignore: []string{"cpu", "/a"}}, "old:"+one, two)
	if _, c := only(t, r); c.Versus.Verdict != tabulate.Same {
		t.Errorf("%+v", c.Versus)
	}
}

// TestMissingRows: a benchmark that is no longer there passes no gate.
func TestMissingRows(t *testing.T) {
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", near(8, 10), "Gone", near(8, 10)), file("x-sec", "", "X", near(8, 10), "Born", near(8, 10)))
	rows := r.Units[0].Rows
	if len(rows) != 3 || rows[0].Note != "" || rows[1].Note != "missing in new" || rows[2].Note != "only in new" || r.Verdict.Unmatched != 2 {
		t.Errorf("rows are %+v", rows)
	}
	check(t, r, "x-sec:+10%", tabulate.Failed, "missing in new")
	unit := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", near(8, 10)), file("y-sec", "", "X", near(8, 10)))
	check(t, unit, "x-sec:+10%", tabulate.Failed, "missing in new")
}

func TestG22_scale(t *testing.T) {
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", times(8, 1.16e-3)), file("x-sec", "", "X", times(8, 1.46e-6)))
	if text := rendered(t, r); !strings.Contains(text, "1.16 ms [1.16, 1.16]") || !strings.Contains(text, "1.46 us [1.46, 1.46]") || !strings.Contains(text, "-99.9% p<0.001 better") {
		t.Errorf("output:\n%s", text)
	}
	for _, tt := range []struct {
		unit string
		v    float64
		want string
	}{
		{"x-sec", 1661.25e-3, "1.66 s"}, {"x-sec", 0.0999996, "100 ms"}, {"x-sec", 5e-15, "5.00e-06 ns"}, {"x-sec", 86400, "86.4 ks"},
		{"B/op", 1, "1 B"}, {"B/op", 1536, "1.50 KiB"}, {"MB/s", 5, "4.77 MiB"}, {"allocs/op", 12, "12"}, {"allocs/op", 12345678, "12.3M"},
		{"stale/run", 0.3333333, "0.333"}, {"stale/run", 0.00001, "10.0u"}, {"x-sec", 0, "0 s"}, {"x-sec", -0.25, "-250 ms"}, {"n", 1e250, "1.00e+238T"},
	} {
		text := rendered(t, report(t, tabulate.Options{}, file(tt.unit, "", "X", times(6, tt.v))))
		if !strings.Contains(text, "  "+tt.want+" [") {
			t.Errorf("%v %s: want %q:\n%s", tt.v, tt.unit, tt.want, text)
		}
	}
}

func TestG24_threshold_needs_a_unit(t *testing.T) {
	for gate, want := range map[string]string{
		"x-sec:0.02":     `"0.02" has no unit: must be UNIT:LIMIT, and the limit have a unit`,
		"x-sec:+5":       `"+5" has no unit`,
		"x-sec:":         "must be UNIT:LIMIT",
		"x-sec":          "must be UNIT:LIMIT",
		":5%":            "must be UNIT:LIMIT",
		"x-sec:five%":    "must be UNIT:LIMIT",
		"x-sec:--5%":     "must be UNIT:LIMIT",
		"x-sec:NaN%":     "must be UNIT:LIMIT",
		"x-sec:5 ms":     "not in a unit that fits x-sec: must be as 10% or 5ms",
		"x-sec:5MB":      "not in a unit that fits x-sec",
		"B/op:5ms":       "not in a unit that fits B/op: must be as 10% or 5KiB",
		"acquires/s:5ms": "not in a unit that fits acquires/s: must be as 10% or 5/s",
		"x-sec:1" + strings.Repeat("0", 300) + "s": "too large",
	} {
		if g, err := tabulate.ParseGate(gate); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, error %v, want %q", gate, g, err, want)
		}
	}
	old := func(unit, head string, v float64) string { return "old:" + file(unit, head, "X", near(8, v)) }
	for _, tt := range []struct {
		unit, head, gate string
		was, is          float64
		want             tabulate.Status
	}{
		{"x-sec", lower, "x-sec:+10%", 10, 12, tabulate.Failed},
		{"x-sec", lower, "x-sec:10%", 10, 12, tabulate.Failed},
		{"x-sec", lower, "x-sec:+30%", 10, 12, tabulate.Passed},
		{"x-sec", lower, "x-sec:+20%", 10, 12, tabulate.Passed}, // exactly at the limit
		{"x-sec", lower, "x-sec:+2%", 10, 8, tabulate.Passed},
		{"x-sec", lower, "x-sec:+5ms", .100, .106, tabulate.Failed},
		{"x-sec", lower, "x-sec:+7ms", .100, .106, tabulate.Passed},
		{"x-ns", "Unit x-ns better=lower\n", "x-ns:+5us", 100e3, 106e3, tabulate.Failed},
		{"x-ns", "Unit x-ns better=lower\n", "x-sec:+7000ns", 100e3, 106e3, tabulate.Passed},
		{"B/op", "", "B/op:+1KiB", 1000, 2000, tabulate.Passed},
		{"B/op", "", "B/op:+1.1kB", 1000, 2200, tabulate.Failed},
		{"acquires/s", "Unit acquires/s better=higher\n", "acquires/s:-10%", 100, 80, tabulate.Failed},
		{"acquires/s", "Unit acquires/s better=higher\n", "acquires/s:30/s", 100, 80, tabulate.Passed},
		{"acquires/s", "Unit acquires/s better=higher\n", "acquires/s:10acquires/s", 100, 80, tabulate.Failed},
		{"stale/run", "Unit stale/run better=lower\n", "stale/run:0/run", 1, 1.2, tabulate.Failed},
	} {
		r := report(t, tabulate.Options{}, old(tt.unit, tt.head, tt.was), file(tt.unit, "", "X", near(8, tt.is)))
		check(t, r, tt.gate, tt.want, "")
		if !strings.Contains(rendered(t, r), tt.gate[strings.LastIndex(tt.gate, ":")+1:]) {
			t.Errorf("%s: the threshold is not printed:\n%s", tt.gate, rendered(t, r))
		}
	}
	for _, tt := range []struct{ unit, head, gate, want string }{
		{"x-sec", "", "x-sec:+10%", "it is not known whether higher or lower is better"},
		{"x-sec", lower, "x-sec:-10%", "change the sign"},
		{"acquires/s", "Unit acquires/s better=higher\n", "acquires/s:+10%", "change the sign"},
		{"x-sec", lower, "y-sec:+10%", "no result has that unit; there are x-sec"},
	} {
		r := report(t, tabulate.Options{}, old(tt.unit, tt.head, 1), file(tt.unit, "", "X", near(8, 1)))
		g, err := tabulate.ParseGate(tt.gate)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check([]tabulate.Gate{g}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %q: %v", tt.gate, tt.head, err)
		}
	}
}

// TestGateNoise: medians that differ by more than the limit, in samples that differ by
// chance, neither pass nor fail.
func TestGateNoise(t *testing.T) {
	r := report(t, tabulate.Options{}, "old:"+file("x-sec", lower, "X", []float64{1, 2, 3, 4, 5, 6, 7, 8}), file("x-sec", "", "X", []float64{2, 3, 4, 5, 5, 6, 7, 8}))
	check(t, r, "x-sec:+5%", tabulate.Undecided, "the medians differ by +11.1%: take more samples")
	check(t, r, "x-sec:+50%", tabulate.Passed, "~ p=")
}

const hostile = "Evil<script>alert(1)</script>|`rm`\x07*[a](b)\u202e/mode="

func TestG25_hostile_names(t *testing.T) {
	r := report(t, tabulate.Options{}, file("ns/op", "cpu: <b>|\n", hostile+"single", near(6, 1), hostile+"quorum|<3>", near(6, 9), "Grün", near(6, 1)))
	var b bytes.Buffer
	if err := r.WriteMarkdown(&b, true); err != nil {
		t.Fatal(err)
	}
	golden(t, "hostile.md", b.Bytes())
	b.Reset()
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "hostile.html", b.Bytes())
	if html := b.String(); !strings.Contains(html, `<meta charset="utf-8">`) || strings.Contains(html, "<script>") || strings.Contains(html, "<b>") {
		t.Error("HTML is not escaped")
	}
	everyFormat(t, r)
}

// TestG25_ascii: without Unicode there is nothing but ASCII.
func TestG25_ascii(t *testing.T) {
	text := file("ns/op", "cpu: Ω\n", "Grün/mode=single", near(3, 1e3), "Grün/mode=µ", near(3, 9e3), hostile+"x", near(3, 1))
	r := report(t, tabulate.Options{}, text)
	for name, write := range map[string]func(*bytes.Buffer, bool) error{
		"text":     func(b *bytes.Buffer, ascii bool) error { return r.WriteText(b, ascii) },
		"markdown": func(b *bytes.Buffer, ascii bool) error { return r.WriteMarkdown(b, ascii) },
	} {
		var plain, full bytes.Buffer
		if err := write(&plain, true); err != nil {
			t.Fatal(err)
		}
		if err := write(&full, false); err != nil {
			t.Fatal(err)
		}
		for _, c := range plain.Bytes() {
			if c != '\n' && (c < ' ' || c > '~') {
				t.Errorf("%s has byte %#x:\n%s", name, c, &plain)
				break
			}
		}
		if !strings.Contains(plain.String(), "+-inf") || !strings.Contains(full.String(), "±∞") || !strings.Contains(full.String(), "µs") || !strings.Contains(full.String(), "Grün") {
			t.Errorf("%s:\n%s\n%s", name, &plain, &full)
		}
	}
}

// TestWidth: whatever the names and numbers, a line has no more than 100 columns.
func TestWidth(t *testing.T) {
	var samples []any
	for i := range 9 {
		samples = append(samples, fmt.Sprintf("Long%s/mode=quorum%d", strings.Repeat("/wide=ü", 40), i), near(3+i, 1.23456e-7*float64(i+1)))
	}
	samples = append(samples, "X/mode="+strings.Repeat("m", 300), near(8, 1e200), "X/mode=quorum0", append(times(99, 0), 1e-300))
	r := report(t, tabulate.Options{}, file("x-sec", lower+"cpu: "+strings.Repeat("word ", 100)+"\n", samples...))
	for _, ascii := range []bool{true, false} {
		var b bytes.Buffer
		if err := r.WriteText(&b, ascii); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// TestModes: modes stand side by side, in name or setting, and single comes first.
func TestModes(t *testing.T) {
	text := file("ns/op", "", "X/mode=quorum3/a=1-2", near(8, 9), "X/mode=single/a=1-2", near(8, 5), "Floor-2", near(8, 1))
	r := report(t, tabulate.Options{}, text)
	if strings.Join(r.Columns, ",") != "single,quorum3,no mode" || r.Verdict.Worse != 1 || r.Verdict.Unmatched != 0 {
		t.Errorf("columns %q, verdict %+v", r.Columns, r.Verdict)
	}
	if rows := r.Units[0].Rows; len(rows) != 2 || rows[0].Name != "X/a=1" || rows[1].Name != "Floor" {
		t.Errorf("rows are %+v", rows)
	}
	r = report(t, tabulate.Options{}, file("ns/op", "mode: single\n", "X", near(8, 5)), file("ns/op", "mode: quorum3\n", "X", near(8, 9)))
	if _, c := only(t, r); r.Columns[1] != "quorum3" || c.Versus.Verdict != tabulate.Worse {
		t.Errorf("columns %q, %+v", r.Columns, c.Versus)
	}
	// Files with the same modes are more samples; as columns they stand apart.
	r = report(t, tabulate.Options{}, text, text)
	if n := r.Units[0].Rows[0].Cells[0].N; n != 16 {
		t.Errorf("n is %d", n)
	}
	r = report(t, tabulate.Options{Columns: tabulate.ByFile, Units: []string{"ns/op"}}, text, text)
	if strings.Join(r.Columns, ",") != "file0,file1" || len(r.Units[0].Rows) != 3 {
		t.Errorf("columns %q, rows %+v", r.Columns, r.Units[0].Rows)
	}
}

// TestSettings: results under different settings are different rows, also in one file.
func TestSettings(t *testing.T) {
	one, two := file("ns/op", "pkg: a\n", "X", near(8, 5)), file("ns/op", "pkg: b\n", "X", near(7, 9))
	for _, files := range [][]string{{one + two}, {one, two}} {
		r := report(t, tabulate.Options{Columns: tabulate.ByMode}, files...)
		if rows := r.Units[0].Rows; len(rows) != 2 || rows[0].Name != "X pkg:a" || rows[1].Name != "X pkg:b" || rows[0].Cells[0].N != 8 || rows[1].Cells[0].N != 7 {
			t.Errorf("rows are %+v", rows)
		}
	}
	// What only tells runs apart, does not.
	r := report(t, tabulate.Options{}, strings.Replace(one, "pkg", "seed", 1)+strings.Replace(two, "pkg", "versions", 1))
	if rows := r.Units[0].Rows; len(rows) != 1 || rows[0].Cells[0].N != 15 {
		t.Errorf("rows are %+v", rows)
	}
}

// TestStatus: one failure is worse than any number of other outcomes, in any order.
func TestStatus(t *testing.T) {
	for want, all := range map[tabulate.Status][]tabulate.Status{
		tabulate.Passed: {tabulate.Passed}, tabulate.Undecided: {tabulate.Passed, tabulate.Undecided, tabulate.Passed},
		tabulate.Failed: {tabulate.Undecided, tabulate.Failed, tabulate.Undecided, tabulate.Passed},
	} {
		var r tabulate.Report
		for _, s := range all {
			r.Gates = append(r.Gates, tabulate.Outcome{Status: s})
		}
		if got := r.Status(); got != want {
			t.Errorf("%v: %v, want %v", all, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]tabulate.Options{
		`columns: "x": must be mode or file`: {Columns: "x"},
		"ignore: a@: must be settings":       {Ignore: []string{"a@"}},
	} {
		if _, err := tabulate.NewCollection(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	r := report(t, tabulate.Options{Units: []string{"split-ns"}}, "BenchmarkX 1 5 ns/op 0 split-ns\nPASS\n")
	if len(r.Units) != 1 || r.Units[0].Name != "split-sec" {
		t.Errorf("units are %+v", r.Units)
	}
}

func TestTooLarge(t *testing.T) {
	for what, line := range map[string]string{
		"different benchmarks and units": "BenchmarkX%d 1 5 s\n", "modes": "BenchmarkX/mode=%d 1 5 s\n",
	} {
		var b strings.Builder
		for i := range tabulate.MaxGroups + 1 {
			fmt.Fprintf(&b, line, i)
		}
		c, err := tabulate.NewCollection(tabulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(strings.NewReader(b.String()), "x", tabulate.New); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// TestGolden is a report with a bit of everything.
func TestGolden(t *testing.T) {
	head := lower + "goos: linux\nlab: virtual\nttl: 2s\n"
	old := file("x-sec", head, "Compare/mode=single/fault=crash", near(12, 1.6), "Compare/mode=quorum3/fault=crash", near(12, 1.7),
		"Compare/mode=quorum5/fault=crash", near(3, 1.7), "Compare/mode=single/fault=pause", times(12, 0), "Compare/mode=quorum3/fault=pause", append(times(11, 0), 0.02))
	now := strings.TrimSuffix(file("x-sec", head, "Compare/mode=single/fault=crash", near(12, 2.1), "Compare/mode=quorum3/fault=crash", near(12, 1.5),
		"Compare/mode=quorum5/fault=crash", near(3, 1.7), "Compare/mode=single/fault=pause", append(times(5, 0), near(7, 0.007)...)), "PASS\n") + "Bench"
	modes := report(t, tabulate.Options{}, old)
	sides := report(t, tabulate.Options{}, "old:"+old, now)
	g, err := tabulate.ParseGate("x-sec:+10%")
	if err != nil {
		t.Fatal(err)
	}
	if err := sides.Check([]tabulate.Gate{g}); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*tabulate.Report{"modes": modes, "sides": sides} {
		for format, write := range map[string]func(*bytes.Buffer) error{
			"txt": func(b *bytes.Buffer) error { return r.WriteText(b, false) }, "md": func(b *bytes.Buffer) error { return r.WriteMarkdown(b, false) },
			"csv": func(b *bytes.Buffer) error { return r.WriteCSV(b) }, "json": func(b *bytes.Buffer) error { return r.WriteJSON(b) },
			"html": func(b *bytes.Buffer) error { return r.WriteHTML(b) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+format, b.Bytes())
		}
	}
}
