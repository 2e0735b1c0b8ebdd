package report_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"incumbent/compare"
	"incumbent/compare/benchfile"
	"incumbent/compare/measure"
	"incumbent/compare/report"
)

// create begins a directory of a plan.
func create(t *testing.T, path string) *report.Dir {
	t.Helper()
	d, err := report.Create(path, plan(), "virtual", versions)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDirReplaces: files of an earlier run are replaced, and that can be said; what is
// not committed replaces nothing.
func TestDirReplaces(t *testing.T) {
	path := t.TempDir()
	if d := create(t, path); len(d.Replaced()) > 0 || d.Commit(report.Report{Result: result()}) != nil {
		t.Fatal("the first run replaces something, or fails")
	}
	before, err := os.ReadFile(filepath.Join(path, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	d := create(t, path)
	if got := strings.Join(d.Replaced(), " "); got != "summary.json results.txt events.jsonl report.html report.md" {
		t.Errorf("replaces %s", got)
	}
	d.Discard()
	d.Discard()
	after, err := os.ReadFile(filepath.Join(path, report.SummaryFile))
	if names := list(t, path); err != nil || !bytes.Equal(before, after) || len(names) != 5 {
		t.Errorf("error %v; after Discard there are %v", err, names)
	}
}

// TestDirLeavesOthersAlone: whatever compare did not write stays, and is named before
// anything is played.
func TestDirLeavesOthersAlone(t *testing.T) {
	for _, name := range []string{report.SummaryFile, report.ResultsFile, report.EventsFile, report.HTMLFile, report.MarkdownFile, report.ADRFile} {
		path := t.TempDir()
		mine := filepath.Join(path, name)
		if err := os.WriteFile(mine, []byte("<html>mine</html>"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := report.Create(path, plan(), "virtual", versions)
		var foreign *report.ForeignFileError
		if !errors.As(err, &foreign) || foreign.Path != mine {
			t.Errorf("%s: error %v", name, err)
		}
		if text, err := os.ReadFile(mine); err != nil || string(text) != "<html>mine</html>" || len(list(t, path)) != 1 {
			t.Errorf("%s: now %q, %v, beside %v", name, text, err, list(t, path))
		}
		if err := errors.Join(os.Remove(mine), os.Mkdir(mine, 0o700)); err != nil {
			t.Fatal(err)
		}
		if _, err := report.Create(path, plan(), "virtual", versions); !errors.As(err, &foreign) {
			t.Errorf("%s is a directory: error %v", name, err)
		}
		elsewhere := filepath.Join(t.TempDir(), "empty")
		if err := errors.Join(os.Remove(mine), os.WriteFile(elsewhere, nil, 0o600), os.Symlink(elsewhere, mine)); err != nil {
			t.Fatal(err)
		}
		if _, err := report.Create(path, plan(), "virtual", versions); !errors.As(err, &foreign) {
			t.Errorf("%s is a link: error %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := report.Create(file, plan(), "virtual", versions); err == nil {
		t.Error("a file passes for a directory")
	}
}

// TestConditionsAreKept: files for programs say what was not as usual, and nothing where
// all was.
func TestConditionsAreKept(t *testing.T) {
	for name, rep := range map[string]report.Report{"usual": reports()["met"], "other": reports()["undecided"]} {
		path := t.TempDir()
		d, err := report.Create(path, rep.Result.Plan, "virtual", versions)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Commit(rep); err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]string{
			report.ResultsFile: "renew: 300ms\nlink: zone\nloss: 0.01\ndrift: 0.5\n",
			report.SummaryFile: "\"renew_ms\": 300,\n  \"link\": \"zone\",\n  \"loss\": 0.01,\n  \"drift_percent\": 0.5,\n",
		} {
			text, err := os.ReadFile(filepath.Join(path, file))
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(text), want); has != (name == "other") {
				t.Errorf("%s: %s has conditions: %v\n%s", name, file, has, text)
			}
		}
	}
}

// TestDirMoreDocuments: a document that fails leaves nothing behind.
func TestDirMoreDocuments(t *testing.T) {
	path := t.TempDir()
	full := errors.New("disk full")
	doc := func(err error) report.Document {
		return report.Document{Name: "more.md", Write: func(w io.Writer, rep report.Report) error {
			_, werr := io.WriteString(w, rep.Versions)
			return errors.Join(werr, err)
		}}
	}
	if err := create(t, path).Commit(report.Report{Result: result()}, doc(full)); !errors.Is(err, full) || len(list(t, path)) > 0 {
		t.Errorf("error %v, and there are %v", err, list(t, path))
	}
	if err := create(t, path).Commit(report.Report{Result: result()}, doc(nil)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(path, "more.md")); err != nil || string(text) != versions {
		t.Errorf("more.md is %q, %v", text, err)
	}
}

// TestResultsTellTheirEnd: a reader sees whether results.txt is whole, of a whole plan.
func TestResultsTellTheirEnd(t *testing.T) {
	for _, tt := range []struct {
		change func(*compare.Result)
		cut    int // bytes
		failed bool
		open   bool
	}{
		{change: func(*compare.Result) {}},
		{change: func(*compare.Result) {}, cut: len("PASS\n"), open: true},
		{change: func(r *compare.Result) { r.Interrupted = true }, failed: true},
		{change: func(r *compare.Result) { r.GaveUp = true }, failed: true},
		{change: func(r *compare.Result) { r.Failed = make([]compare.Failed, 1); r.Failed[0].Err = io.EOF }, failed: true},
	} {
		path := t.TempDir()
		d := create(t, path)
		for _, run := range runs() {
			if err := d.Add(run, measure.Of(run)); err != nil {
				t.Fatal(err)
			}
		}
		r := result()
		tt.change(r)
		if err := d.Commit(report.Report{Result: r}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(path, report.ResultsFile))
		if err != nil {
			t.Fatal(err)
		}
		in := benchfile.NewReader(bytes.NewReader(text[:len(text)-tt.cut]), "results.txt")
		for in.Scan() {
		}
		info := in.Info()
		if in.Err() != nil || info.Results != 2 || info.Failed != tt.failed || (info.Unclosed > 0) != tt.open {
			t.Errorf("error %v, info %+v, want failed %v, unclosed %v", in.Err(), info, tt.failed, tt.open)
		}
		if slices.Contains(info.Incomplete(), "a benchmark or test failed (FAIL line)") != tt.failed {
			t.Errorf("incomplete: %v", info.Incomplete())
		}
	}
}
