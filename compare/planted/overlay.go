package planted

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Folders with code that may have bugs planted and rare branches marked.
var folders = []string{"election", "single", "quorum", "both", "internal/vote", "internal/vote/native"}

// switchDir is the package that the overlay adds. scriptsFile is where the sources
// of scripts become scripts, and scriptsText what is said there.
const (
	switchDir   = "internal/planted"
	scriptsFile = "internal/vote/script.go"
	scriptsText = "sum := sha1.Sum([]byte(source))"
	scriptsNew  = "source = planted.Script(name, source); " + scriptsText
)

//go:embed switch.go.txt
var switchSource string

// overlay is what a build of the module at root sees instead of its own files.
type overlay struct {
	root    string
	files   map[string]string // by path below root
	marks   []mark
	scripts []string // hunks of scripts, as Go
}

// mark is a rare branch.
type mark struct{ name, file string }

// newOverlay plants all bugs into the module at root. It fails when the text of one
// does not occur exactly once, and when those of two overlap without being the same.
func newOverlay(root string, list []bug) (*overlay, error) {
	o := &overlay{root: root, files: map[string]string{}}
	edits := map[string][]edit{scriptsFile: {{old: scriptsText, new: scriptsNew}}}
	var errs []error
	for _, b := range list {
		for _, h := range b.hunks {
			if filepath.Ext(h.file) == ".lua" {
				errs = append(errs, o.script(b, h))
				continue
			}
			edits[h.file] = append(edits[h.file], edit{[]string{b.name}, h.old, h.new})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	paths, err := o.sources()
	if err != nil {
		return nil, err
	}
	for path := range edits {
		if !slices.Contains(paths, path) {
			errs = append(errs, fmt.Errorf("%s: no source file in which bugs may be planted", path))
		}
	}
	for _, path := range paths {
		errs = append(errs, o.source(path, edits[path]))
	}
	o.files[switchDir+"/planted.go"] = switchSource + strings.Join(o.scripts, "") + "}\n"
	return o, errors.Join(errs...)
}

// sources lists the Go files that may be changed, below root.
func (o *overlay) sources() ([]string, error) {
	var paths []string
	for _, dir := range folders {
		found, err := filepath.Glob(filepath.Join(o.root, dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			if !strings.HasSuffix(path, "_test.go") {
				paths = append(paths, dir+"/"+filepath.Base(path))
			}
		}
	}
	return paths, nil
}

// script plants a bug in a script, which is changed when the program starts.
func (o *overlay) script(b bug, h hunk) error {
	text, err := os.ReadFile(filepath.Join(o.root, h.file))
	if err != nil {
		return fmt.Errorf("bug %s: %w", b.name, err)
	}
	if n := strings.Count(string(text), h.old); n != 1 {
		return fmt.Errorf("bug %s: its text occurs %d times in %s, and must once", b.name, n, h.file)
	}
	name := strings.TrimSuffix(filepath.Base(h.file), ".lua")
	o.scripts = append(o.scripts, fmt.Sprintf("\t{%q, %q, %q, %q},\n", b.name, name, h.old, h.new))
	return nil
}

// edit is a change of one Go file, for one bug or for several that share it.
type edit struct {
	bugs     []string
	old, new string
}

// condition stands in a hunk for the question whether its bug is on. A hunk without
// it is made of whole statements.
const condition = "PLANTED"

// raw reports whether new is all that is left of old.
func (e edit) raw() bool { return len(e.bugs) == 0 || strings.Contains(e.new, condition) }

// text is what replaces old, but for what follows an else.
func (e edit) text() string {
	var on []string
	for _, b := range e.bugs {
		on = append(on, fmt.Sprintf("planted.On(%q)", b))
	}
	asked := "(" + strings.Join(on, " || ") + ")"
	if e.raw() {
		return strings.ReplaceAll(e.new, condition, asked)
	}
	return fmt.Sprintf("if %s {\n%s\n} else ", asked, e.new)
}

// source makes the overlay's version of one file, if it is to have one.
func (o *overlay) source(path string, edits []edit) error {
	data, err := os.ReadFile(filepath.Join(o.root, path))
	if err != nil {
		return err
	}
	text, err := apply(path, string(data), edits)
	if err != nil {
		return err
	}
	text = rare.ReplaceAllStringFunc(text, func(line string) string {
		name := rare.FindStringSubmatch(line)[1]
		o.marks = append(o.marks, mark{name, path})
		return fmt.Sprintf("planted.Reach(%q)", name)
	})
	if text != string(data) {
		text = imports.ReplaceAllString(text, `${0}; import planted "incumbent/`+switchDir+`"`)
		o.files[path] = text + "\nvar _ = planted.On\n" // where all that is new is a field
	}
	return nil
}

var (
	rare    = regexp.MustCompile(`(?m)^[ \t]*// rare: ([a-z0-9-]+)$`)
	imports = regexp.MustCompile(`(?m)^package [a-z]+$`)
)

// place is where a change goes: edits of one and the same text go together.
type place struct {
	at, end int
	edits   []edit
}

// apply makes all changes of one text.
func apply(path, text string, edits []edit) (string, error) {
	places, err := locate(path, text, edits)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	done := 0
	for _, p := range places {
		if p.at < done {
			return "", fmt.Errorf("bugs %s: their text in %s overlaps that of others", p.edits[0].bugs, path)
		}
		out.WriteString(text[done:p.at])
		done = p.end
		for _, e := range p.edits {
			out.WriteString(e.text())
		}
		if !p.edits[0].raw() {
			fmt.Fprintf(&out, "{\n%s\n}", text[p.at:p.end])
		}
	}
	out.WriteString(text[done:])
	return out.String(), nil
}

// locate finds the place of each edit, in the order of the text.
func locate(path, text string, edits []edit) ([]place, error) {
	var places []place
	var errs []error
	for _, e := range edits {
		if n := strings.Count(text, e.old); n != 1 {
			errs = append(errs, fmt.Errorf("bugs %s: their text occurs %d times in %s, and must once", e.bugs, n, path))
			continue
		}
		at := strings.Index(text, e.old)
		i := slices.IndexFunc(places, func(p place) bool { return p.at == at && p.end == at+len(e.old) })
		if i < 0 || !places[i].join(e) {
			places = append(places, place{at, at + len(e.old), []edit{e}})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	return places, errors.Join(errs...)
}

// join adds an edit of the same text, if both can be there: the same change for
// another bug, or statements beside statements.
func (p *place) join(e edit) bool {
	for i, before := range p.edits {
		if before.new == e.new {
			p.edits[i].bugs = append(p.edits[i].bugs, e.bugs...)
			return true
		}
		if before.raw() {
			return false
		}
	}
	if e.raw() {
		return false
	}
	p.edits = append(p.edits, e)
	return true
}

// write puts the overlay into dir, and returns the flag for the go command.
func (o *overlay) write(dir string) (flag string, err error) {
	replace := map[string]string{}
	for path, text := range o.files {
		file := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(o.root, path)] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return "-overlay=" + file, os.WriteFile(file, data, 0o600)
}
