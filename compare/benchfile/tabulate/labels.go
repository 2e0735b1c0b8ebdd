package tabulate

import (
	"maps"
	"slices"

	"golang.org/x/perf/benchproc"
)

// labels name rows by what keeps them apart, and no more.
type labels struct {
	config   *benchproc.Projection
	first    benchproc.Key
	differ   []*benchproc.Field // settings that differ between rows
	procs    bool               // and whether GOMAXPROCS does
	someProc string
}

func newLabels(c *Collection, rows []*row) *labels {
	l := &labels{config: c.by.config}
	seen := map[benchproc.Key]bool{}
	for i, r := range rows {
		seen[r.config] = true
		procs := r.procs.StringValues()
		if i == 0 {
			l.someProc, l.first = procs, r.config
		}
		l.procs = l.procs || procs != l.someProc
	}
	l.differ = benchproc.NonSingularFields(slices.Collect(maps.Keys(seen)))
	return l
}

// of is the name of a row.
func (l *labels) of(r rowKey) string {
	name := r.name
	if p := r.procs.StringValues(); l.procs && p != "" {
		name += "-" + p
	}
	for _, f := range l.differ {
		if v := r.config.Get(f); v != "" {
			name += " " + f.Name + ":" + v
		}
	}
	return name
}

// common are the settings that all rows have.
func (l *labels) common() []Setting {
	out := []Setting{}
	if l.first.IsZero() {
		return out
	}
	for _, f := range l.config.FlattenedFields() {
		if v := l.first.Get(f); v != "" && !slices.Contains(l.differ, f) {
			out = append(out, Setting{f.Name, v})
		}
	}
	if !l.procs && l.someProc != "" {
		out = append(out, Setting{"gomaxprocs", l.someProc})
	}
	return out
}
