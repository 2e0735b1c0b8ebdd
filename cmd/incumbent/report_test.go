package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateReports = flag.Bool("update", false, "rewrite the golden files in testdata/report")

// benchFile writes a benchmark file and returns its name: of each benchmark n samples
// around a value.
func benchFile(t *testing.T, dir, name, head string, n int, values ...any) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(head)
	for i := 0; i < len(values); i += 2 {
		for k := range n {
			fmt.Fprintf(&b, "Benchmark%s 1 %v overshoot-sec\n", values[i], values[i+1].(float64)*(1+float64(k)/1000))
		}
	}
	b.WriteString("PASS\n")
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const lowerIsBetter = "goos: linux\nUnit overshoot-sec better=lower\n"

// TestReportOutput compares what is printed, exit code included, with golden files.
func TestReportOutput(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "report"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("LC_ALL", "C")
	old := benchFile(t, ".", "old.txt", lowerIsBetter, 8, "Renew/mode=single-8", .0100, "Renew/mode=quorum3-8", .0200, "Old/mode=single-8", 0.0, "Gone-8", 1.0)
	now := benchFile(t, ".", "new.txt", "goos: linux\n", 8, "Renew/mode=single-8", .0125, "Renew/mode=quorum3-8", .0150, "Old/mode=single-16", 0.0)
	alone := benchFile(t, ".", "alone.txt", lowerIsBetter, 8, "Renew/mode=single-8", .0100, "Ping-8", .0010)
	few := benchFile(t, ".", "few.txt", lowerIsBetter, 3, "Renew/mode=single-8", .0100, "Renew/mode=quorum3-8", .0200)
	for _, tt := range []struct {
		name, args string
		code       int
	}{
		{"modes", "OLD", exitOK},
		{"few", "FEW", exitOK},
		{"alone", "ALONE", exitOK}, // nothing stands beside anything
		{"few-gate", "FEW --baseline OLD --units overshoot-sec --gate overshoot-sec:+10%", exitFailed}, // a row is gone
		{"inconclusive", "FEW --baseline OLD2 --gate overshoot-sec:+10%", exitInconclusive},
		{"files", "OLD NEW --columns file", exitOK},
		{"baseline", "NEW --baseline OLD", exitOK},
		{"gate", "NEW --baseline OLD --gate overshoot-sec:+10% --gate overshoot-ns:+5ms", exitFailed},
		{"gate-passed", "OLD2 --baseline OLD3 --gate overshoot-sec:+10%", exitOK},
		{"markdown", "NEW --baseline OLD --gate overshoot-sec:+10% --format markdown", exitFailed},
		{"csv", "NEW --baseline OLD --gate overshoot-sec:+10% --format csv", exitFailed},
		{"json", "FEW --format json", exitOK},
		{"html", "FEW --format html", exitOK},
	} {
		names := map[string]string{
			"OLD": old, "NEW": now, "FEW": few, "ALONE": alone,
			"OLD2": benchFile(t, ".", "more.txt", lowerIsBetter, 8, "Renew/mode=single-8", .0100, "Renew/mode=quorum3-8", .0200),
			"OLD3": benchFile(t, ".", "same.txt", lowerIsBetter, 8, "Renew/mode=single-8", .0100, "Renew/mode=quorum3-8", .0200),
		}
		args := []string{"report"}
		for arg := range strings.FieldsSeq(tt.args) {
			if path, ok := names[arg]; ok {
				arg = path
			}
			args = append(args, arg)
		}
		code, stdout, stderr := call(t.Context(), args...)
		if code != tt.code {
			t.Errorf("%s: exit code %d, want %d", tt.args, code, tt.code)
		}
		text := fmt.Sprintf("$ incumbent report %s\n%s--- standard error:\n%s--- exit code: %d\n", tt.args, stdout, stderr, code)
		goldenReport(t, golden, tt.name+".golden", []byte(text))
	}
}

// goldenReport compares got with a file in the directory golden.
func goldenReport(t *testing.T, golden, name string, got []byte) {
	t.Helper()
	path := filepath.Join(golden, name)
	if *updateReports {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
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

// TestReportUsage: wrong usage is exit code 2 and one line that names the rule.
func TestReportUsage(t *testing.T) {
	a := benchFile(t, t.TempDir(), "a.txt", lowerIsBetter, 8, "X", 1.0)
	b := benchFile(t, t.TempDir(), "b.txt", "", 8, "X", 1.0)
	c := benchFile(t, t.TempDir(), "c.txt", "", 8, "X", 1.0)
	link := filepath.Join(t.TempDir(), "link.txt")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"", "FILE is missing"},
		{a + " --gate overshoot-sec:+10%", "--gate: needs --baseline FILE"},
		{b + " --baseline " + a + " --gate overshoot-sec:0.02", `"0.02" has no unit: must be UNIT:LIMIT, and the limit have a unit`},
		{b + " --baseline " + a + " --gate overshoot-sec", "must be UNIT:LIMIT"},
		{b + " --baseline " + a + " --gate overshot-sec:1%", "no result has that unit; there are overshoot-sec"},
		{b + " --baseline " + a + " --gate overshoot-sec:-1%", "change the sign"},
		{b + " --baseline " + c + " --gate overshoot-sec:1%", "it is not known whether higher or lower is better"},
		{b + " --baseline " + a + " --columns mode", "--columns: with --baseline"},
		{a + " --columns rows", `--columns: "rows": must be mode or file`},
		{a + " --format pdf", `--format: "pdf": must be text, markdown, csv, json or html`},
		{a + " --ignore a@", "--ignore: a@: must be settings"},
		{a + " " + a, "must be given once"},
		{a + " --baseline " + a, "must be given once"},
		{link + " --baseline " + a, "must be given once"},
		{"- -", "must be given once"},
	} {
		code, stdout, stderr := call(t.Context(), append([]string{"report"}, strings.Fields(tt.args)...)...)
		if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "incumbent report --help") {
			t.Errorf("%s: exit code %d, output %q, error %q", tt.args, code, stdout, stderr)
		}
	}
}

// TestReportUnreadable: what cannot be read is exit code 1 and one line that names the
// file; so is a file without results, which is never a success.
func TestReportUnreadable(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := benchFile(t, t.TempDir(), "good.txt", lowerIsBetter, 8, "X", 1.0)
	for _, tt := range []struct{ args, want string }{
		{"missing.txt", "missing.txt"},
		{good + " --baseline missing.txt", "missing.txt"},
		{t.TempDir(), "directory"},
		{write("empty.txt", ""), "empty.txt: no benchmark results found; the file looks like an empty file"},
		{good + " " + write("page.txt", "<html>\n"), "page.txt: no benchmark results found; the file looks like HTML"},
		{write("u32.txt", "\xff\xfe\x00\x00"), "u32.txt: looks like UTF-32"},
		{good + " " + write("units.txt", "Unit overshoot-sec better=higher\nBenchmarkX 1 5 s\nPASS\n"), "units.txt:1: unit overshoot-sec: better=higher, but "},
	} {
		code, stdout, stderr := call(t.Context(), append([]string{"report"}, strings.Fields(tt.args)...)...)
		if code != exitFailed || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit code %d, output %q, error %q", tt.args, code, stdout, stderr)
		}
	}
}

// TestReportIncomplete: a run that may not be whole is exit code 1, unless that is
// allowed.
func TestReportIncomplete(t *testing.T) {
	path := benchFile(t, t.TempDir(), "a.txt", lowerIsBetter, 8, "X", 1.0)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.TrimSuffix(text, []byte("PASS\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t.Context(), "report", path)
	if code != exitFailed || !strings.Contains(stdout, "INCOMPLETE RUN: no PASS or ok line after 8 results") || !strings.Contains(stderr, "a.txt: incomplete run: no PASS") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
	if code, _, _ := call(t.Context(), "report", path, "--allow-incomplete"); code != exitOK {
		t.Errorf("allowed: exit code %d", code)
	}
}

func TestReportStdin(t *testing.T) {
	var out, err bytes.Buffer
	in := strings.NewReader("BenchmarkX 1 5 ns/op\nPASS\n")
	if code := run(t.Context(), []string{"report", "-"}, in, &out, &err); code != exitOK || !strings.Contains(out.String(), "standard input: 1 result\n") {
		t.Errorf("exit code %d, output %q, error %q", code, &out, &err)
	}
}

func TestReportHelp(t *testing.T) {
	code, stdout, _ := call(t.Context(), "report", "--help")
	for _, want := range []string{"Examples:", "incumbent report results/results.txt", "Exit code:", "--gate", "overshoot-sec:+10%", "inconclusive", "--allow-incomplete"} {
		if code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, output lacks %q:\n%s", code, want, stdout)
		}
	}
}

func TestUnicodeLocale(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C"}, false},
		{map[string]string{"LANG": "C.UTF-8"}, true},
		{map[string]string{"LANG": "en_GB.utf8"}, true},
		{map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, true},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, false},
	} {
		if got := unicodeLocale(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
}
