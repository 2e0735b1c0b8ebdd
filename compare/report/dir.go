package report

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"incumbent/compare"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// Names of the files in an output directory.
const (
	SummaryFile = "summary.json"
	ResultsFile = "results.txt"
	EventsFile  = "events.jsonl"
)

// A Dir is an output directory that is being written. Its files get their names
// only in Commit.
type Dir struct {
	path            string
	versions        string
	results, events *file
	files           []*file
}

// Create makes the directory where it does not exist, and begins its files. End
// with Commit or Discard.
func Create(path string, p compare.Plan, lab, versions string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	d := &Dir{path: path, versions: versions}
	var err error
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

// Add writes a run. It is a compare.Sink.
func (d *Dir) Add(run history.Run, f measure.Figures) error {
	if err := benchLine(d.results, run, f); err != nil {
		return err
	}
	return eventLines(d.events, run)
}

// Commit writes the summary and gives all files their names.
func (d *Dir) Commit(r *compare.Result) error {
	defer d.Discard()
	s, err := d.create(SummaryFile)
	if err != nil {
		return err
	}
	if err := Summary(s, r, d.versions); err != nil {
		return err
	}
	for _, f := range d.files {
		if err := f.finish(); err != nil {
			return err
		}
	}
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
