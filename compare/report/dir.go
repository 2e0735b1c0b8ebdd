package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"incumbent/compare"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// Names of the files in an output directory.
const (
	SummaryFile  = "summary.json"
	ResultsFile  = "results.txt"
	EventsFile   = "events.jsonl"
	HTMLFile     = "report.html"
	MarkdownFile = "report.md"
)

// A Dir is an output directory that is being written. Its files get their names
// only in Commit.
type Dir struct {
	path            string
	versions        string
	results, events *file
	files           []*file
	replaced        []string
	keep            Events
}

// Create makes the directory where it does not exist, and begins its files. Files of
// an earlier comparison will be replaced; where another file has one of their names
// the error is a *ForeignFileError, and nothing is written. End with Commit or Discard.
func Create(path string, p compare.Plan, lab, versions string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	d := &Dir{path: path, versions: versions, keep: AllEvents}
	var err error
	if d.replaced, err = ours(path); err != nil {
		return nil, err
	}
	if d.results, err = d.create(ResultsFile); err == nil {
		if d.events, err = d.create(EventsFile); err == nil {
			err = benchHead(d.results, p, lab, versions)
		}
	}
	if err != nil {
		d.Discard()
		return nil, err
	}
	return d, nil
}

// Replaced names the files of an earlier comparison that Commit replaces.
func (d *Dir) Replaced() []string { return d.replaced }

// KeepEvents says whose events are written: all, unless it is called before the first
// Add.
func (d *Dir) KeepEvents(e Events) { d.keep = e }

// Add writes a run. It is a compare.Sink.
func (d *Dir) Add(run history.Run, f measure.Figures) error {
	if err := benchLine(d.results, run, f); err != nil {
		return err
	}
	if d.keep != AllEvents {
		return nil
	}
	return EventLines(d.events, run)
}

// worst writes the events of the worst runs, if those are to be kept.
func (d *Dir) worst(r *compare.Result) error {
	if d.keep != WorstEvents {
		return nil
	}
	for _, w := range r.Worst {
		if err := EventLines(d.events, w.Run); err != nil {
			return err
		}
	}
	return nil
}

// A Document is a further file of a directory: its name and what writes it.
type Document struct {
	Name  string
	Write func(io.Writer, Report) error
}

// Commit writes the summary and the reports, and more documents where there are some,
// and gives all files their names. The versions of rep are those that Create was
// given.
func (d *Dir) Commit(rep Report, more ...Document) error {
	defer d.Discard()
	rep.Versions = d.versions
	if err := errors.Join(benchEnd(d.results, complete(rep.Result)), d.worst(rep.Result)); err != nil {
		return err
	}
	documents := append([]Document{
		{SummaryFile, func(w io.Writer, rep Report) error { return Summary(w, rep.Result, rep.Versions) }},
		{HTMLFile, HTML}, {MarkdownFile, Markdown},
	}, more...)
	for _, doc := range documents {
		f, err := d.create(doc.Name)
		if err != nil {
			return err
		}
		if err := doc.Write(f, rep); err != nil {
			return fmt.Errorf("%s: %w", doc.Name, err)
		}
	}
	for _, f := range d.files {
		if err := f.finish(); err != nil {
			return err
		}
	}
	return d.rename()
}

// rename gives all files their names.
func (d *Dir) rename() error {
	for _, f := range d.files {
		if err := os.Rename(f.f.Name(), filepath.Join(d.path, f.name)); err != nil {
			return err
		}
	}
	d.files = nil
	return nil
}

// Discard removes what was not committed.
func (d *Dir) Discard() {
	for _, f := range d.files {
		_ = f.f.Close() // it may be closed, and its content is not wanted
		_ = os.Remove(f.f.Name())
	}
	d.files = nil
}

// file is a file under a temporary name beside its own.
type file struct {
	*bufio.Writer
	f    *os.File
	name string
}

func (d *Dir) create(name string) (*file, error) {
	f, err := os.CreateTemp(d.path, "."+name+".*")
	if err != nil {
		return nil, err
	}
	out := &file{bufio.NewWriterSize(f, 1<<16), f, name}
	d.files = append(d.files, out)
	return out, nil
}

// finish writes all to disk, readable for those whom the umask allows.
func (f *file) finish() error {
	err := errors.Join(f.Flush(), f.f.Chmod(0o644), f.f.Sync(), f.f.Close())
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}
