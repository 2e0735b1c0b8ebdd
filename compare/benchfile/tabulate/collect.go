package tabulate

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"incumbent/compare/benchfile"
)

// Limits of what a Collection takes, so that its memory stays bounded: the values
// need 128 MB.
const (
	MaxValues  = 16_000_000
	MaxGroups  = 100_000
	MaxColumns = 100
)

// A TooLargeError says that there are more results than can be compared at once.
type TooLargeError struct {
	File  string
	What  string
	Limit int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: more than %d %s: compare fewer at once", e.File, e.Limit, e.What)
}

// Side tells what a file is compared with.
type Side int

// Sides. Without a baseline all files are New.
const (
	New Side = iota
	Old
)

// Columns of a report.
const (
	ByMode = "mode" // by the part /mode= of the name, or else by the setting mode
	ByFile = "file"
)

// Options say how to group. The zero value means: by mode if there is one, or else by
// file; all units.
type Options struct {
	Columns string   // ByMode, ByFile or empty
	Units   []string // only these, as written in the file or in base units
	Ignore  []string // settings ("cpu") and parts of names ("/fault") that keep nothing apart
}

// File is what was read of a file, and its side.
type File struct {
	benchfile.Info
	Side       string   `json:"side,omitempty"` // "old", "new", or empty without a baseline
	Incomplete []string `json:"incomplete"`     // why it may not hold the whole run
	side       Side
}

// A Collection groups results by what they measured. Make one with NewCollection.
type Collection struct {
	options Options
	only    map[string]bool
	by      projections
	recent  map[string]key    // of the names seen under the settings of last
	last    []benchfmt.Config // settings of the result before
	groups  map[key]*sample
	order   []key
	modes   []string // in the order in which they came; "" stands for none
	values  int
	units   benchfile.Units
	files   []File
	based   bool
}

// projections are how benchproc takes a result apart.
type projections struct {
	config, name, procs, mode *benchproc.Projection
}

// key is what results have in common that are samples of one thing.
type key struct {
	file                int
	config, name, procs benchproc.Key
	mode, unit          string
}

// varying are settings that differ between runs of the same thing.
const varying = "seed,versions"

// NewCollection returns an empty collection. The error says which option is wrong.
func NewCollection(o Options) (*Collection, error) {
	c := &Collection{options: o, groups: map[key]*sample{}, recent: map[string]key{}}
	if o.Columns != "" && o.Columns != ByMode && o.Columns != ByFile {
		return nil, fmt.Errorf("columns: %q: must be %s or %s", o.Columns, ByMode, ByFile)
	}
	for _, u := range o.Units {
		if c.only == nil {
			c.only = map[string]bool{}
		}
		c.only[baseUnit(u)] = true
	}
	var parser, modes benchproc.ProjectionParser
	var err error
	for _, p := range []struct {
		to     **benchproc.Projection
		parser *benchproc.ProjectionParser
		text   string
	}{
		{&c.by.config, &parser, ".config"}, {&c.by.name, &parser, ".fullname"}, {&c.by.procs, &parser, "/gomaxprocs"},
		{&c.by.mode, &modes, "/mode,mode"},
	} {
		if *p.to, err = p.parser.Parse(p.text, nil); err != nil {
			return nil, err
		}
	}
	ignored := append([]string{"mode", varying}, o.Ignore...)
	if _, err := parser.Parse(strings.Join(ignored, ","), nil); err != nil {
		return nil, fmt.Errorf("ignore: %s: must be settings or parts of names, as cpu or /fault", strings.Join(o.Ignore, ","))
	}
	return c, nil
}

// Add reads a file to its end. Name is what the file is called in the report. The
// errors are those of benchfile.Reader, and *TooLargeError.
func (c *Collection) Add(r io.Reader, name string, side Side) error {
	in := benchfile.NewReader(r, name)
	clear(c.recent)
	c.based = c.based || side == Old
	for in.Scan() {
		res := in.Result()
		k := c.key(res)
		for _, v := range res.Values {
			if s := c.group(k, v.Unit); s != nil {
				s.add(v.Value)
				c.values++
			}
		}
		for _, v := range in.Dropped() {
			if s := c.group(k, v.Unit); s != nil {
				s.bad++
			}
		}
		if err := c.tooLarge(name); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	c.files = append(c.files, File{Info: *in.Info(), Incomplete: in.Info().Incomplete(), side: side})
	return c.units.Merge(in.Units())
}

// tooLarge is the error if a limit is passed.
func (c *Collection) tooLarge(name string) error {
	switch {
	case c.values > MaxValues:
		return &TooLargeError{name, "values", MaxValues}
	case len(c.order) > MaxGroups:
		return &TooLargeError{name, "different benchmarks and units", MaxGroups}
	case len(c.modes) > MaxColumns:
		return &TooLargeError{name, "modes", MaxColumns}
	case len(c.files) >= MaxColumns:
		return &TooLargeError{name, "files", MaxColumns}
	}
	return nil
}

// maxRecent bounds recent.
const maxRecent = 10_000

// key takes a result apart. Most results have a name and settings that were seen
// before; to remember those makes reading twice as fast.
func (c *Collection) key(res *benchfmt.Result) key {
	if !slices.EqualFunc(c.last, res.Config, sameSetting) || len(c.recent) > maxRecent {
		c.last = res.Clone().Config
		clear(c.recent)
	}
	if k, ok := c.recent[string(res.Name)]; ok {
		return k
	}
	k := key{file: len(c.files), config: c.by.config.Project(res), name: c.by.name.Project(res), procs: c.by.procs.Project(res), mode: c.mode(res)}
	if !slices.Contains(c.modes, k.mode) {
		c.modes = append(c.modes, k.mode)
	}
	c.recent[string(res.Name)] = k
	return k
}

func sameSetting(a, b benchfmt.Config) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) }

// group is the sample that a value of unit belongs to; nil if it is not wanted.
func (c *Collection) group(k key, unit string) *sample {
	if c.only != nil && !c.only[unit] {
		return nil
	}
	k.unit = unit
	s := c.groups[k]
	if s == nil {
		s = &sample{}
		c.groups[k] = s
		c.order = append(c.order, k)
	}
	return s
}

// mode is the mode that a result is of, or "".
func (c *Collection) mode(res *benchfmt.Result) string {
	k := c.by.mode.Project(res)
	for _, f := range c.by.mode.Fields() {
		if v := k.Get(f); v != "" {
			return v
		}
	}
	return ""
}
