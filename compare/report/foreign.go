package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// generator is how files say that compare wrote them, where their format has no other
// way: HTML in a meta element, Markdown in a comment.
const generator = "incumbent compare"

// generatedComment is the first line of a Markdown document.
const generatedComment = "<!-- generator: " + generator + " -->"

// beginnings are what files of compare begin with, or have near their beginning.
var beginnings = map[string]string{
	SummaryFile:  "{\n  \"lab\": ",
	ResultsFile:  "pkg: incumbent/compare\n",
	EventsFile:   `{"seed":`,
	HTMLFile:     `<meta name="generator" content="` + generator + `">`,
	MarkdownFile: generatedComment,
	ADRFile:      generatedComment,
}

// A ForeignFileError says that an output directory has a file of somebody else under a
// name that compare would write.
type ForeignFileError struct{ Path string }

// Error names the file and what to do.
func (e *ForeignFileError) Error() string {
	return fmt.Sprintf("%s: exists, and incumbent compare did not write it: choose another directory, or move the file away", e.Path)
}

// ours lists the files of an earlier comparison in a directory.
func ours(dir string) (list []string, err error) {
	for _, name := range []string{SummaryFile, ResultsFile, EventsFile, HTMLFile, MarkdownFile, ADRFile} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, &ForeignFileError{path}
		}
		if err := isOurs(path, info.Size(), beginnings[name]); err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// isOurs looks at the beginning of a file. An empty one is nobody's loss: a comparison
// without a run leaves events.jsonl empty.
func isOurs(path string, size int64, begins string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	head, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return err
	}
	if size > 0 && !bytes.Contains(head, []byte(begins)) {
		return &ForeignFileError{path}
	}
	return nil
}
