package tabulate

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// Report compares all that was added. It empties the collection.
func (c *Collection) Report() *Report {
	b := &builder{c: c, rows: map[rowKey]*row{}, byUnit: map[string][]*row{}, kin: map[[2]string][]*row{}}
	b.chooseColumns()
	for _, k := range c.order {
		b.place(k)
	}
	r := &Report{Files: c.files, Columns: b.columns, Based: c.based, Gates: []Outcome{}}
	labels := newLabels(c, b.order)
	r.Settings = labels.common()
	for _, name := range b.units {
		u := Unit{Name: name, Better: direction(c.units.Better(name)), Rows: []Row{}}
		for _, rw := range b.byUnit[name] {
			out := Row{Name: labels.of(rw.rowKey), Note: b.hint(rw), Cells: b.compare(rw)}
			for _, cell := range out.Cells {
				if cell.Versus != nil {
					r.Verdict.count(cell.Versus.Verdict)
				}
			}
			u.Rows = append(u.Rows, out)
		}
		r.Units = append(r.Units, u)
	}
	for i := range r.Files {
		f := &r.Files[i]
		r.Verdict.Incomplete = r.Verdict.Incomplete || len(f.Incomplete) > 0
		if c.based {
			f.Side = b.columns[1-int(f.side)]
		}
	}
	c.groups, c.order = nil, nil
	return r
}

func direction(better int) string {
	switch better {
	case 1:
		return "higher"
	case -1:
		return "lower"
	}
	return ""
}

// builder arranges samples in rows and columns.
type builder struct {
	c       *Collection
	columns []string
	column  func(key) int
	byMode  bool

	rows   map[rowKey]*row
	order  []*row
	units  []string
	byUnit map[string][]*row
	kin    map[[2]string][]*row // by name and unit
}

// rowKey is what keeps rows apart.
type rowKey struct {
	name, unit    string
	config, procs benchproc.Key
}

func (k rowKey) kin() [2]string { return [2]string{k.name, k.unit} }

type row struct {
	rowKey
	cells []*sample
}

// plainMode comes first, wherever it stands in the files.
const plainMode = "single"

// noMode is the column of results without a mode, beside others that have one.
const noMode = "no mode"

// chooseColumns decides what the columns are.
func (b *builder) chooseColumns() {
	c := b.c
	modes := slices.DeleteFunc(slices.Clone(c.modes), func(m string) bool { return m == "" })
	if i := slices.Index(modes, plainMode); i > 0 { // what the others are an alternative to
		modes = slices.Insert(slices.Delete(modes, i, i+1), 0, plainMode)
	}
	switch {
	case c.based:
		b.columns = []string{"old", "new"}
		b.column = func(k key) int { return 1 - int(c.files[k.file].side) }
	case c.options.Columns == ByFile, c.options.Columns == "" && len(modes) == 0 && len(c.files) > 1:
		for _, f := range c.files {
			b.columns = append(b.columns, f.Name)
		}
		b.column = func(k key) int { return k.file }
	default:
		if b.columns = modes; slices.Contains(c.modes, "") {
			b.columns = append(b.columns, noMode)
		}
		b.byMode = true
		b.column = func(k key) int {
			if i := slices.Index(modes, k.mode); i >= 0 {
				return i
			}
			return len(modes)
		}
	}
	if len(b.columns) == 1 && b.columns[0] == noMode {
		b.columns[0] = "all"
	}
}

// place puts a sample into its row and column.
func (b *builder) place(k key) {
	name := k.name.StringValues()
	if b.byMode && k.mode != "" {
		name = withoutMode(name, k.mode)
	}
	rk := rowKey{name: name, unit: k.unit, config: k.config, procs: k.procs}
	r := b.rows[rk]
	if r == nil {
		r = &row{rowKey: rk, cells: make([]*sample, len(b.columns))}
		b.rows[rk] = r
		b.order = append(b.order, r)
		if b.byUnit[k.unit] == nil {
			b.units = append(b.units, k.unit)
		}
		b.byUnit[k.unit] = append(b.byUnit[k.unit], r)
		b.kin[r.kin()] = append(b.kin[r.kin()], r)
	}
	i := b.column(k)
	if r.cells[i] == nil {
		r.cells[i] = &sample{}
	}
	r.cells[i].join(b.c.groups[k])
}

// withoutMode removes the part /mode= from a name.
func withoutMode(name, mode string) string {
	part := "/mode=" + mode
	for from := 0; ; {
		i := strings.Index(name[from:], part)
		if i < 0 {
			return name
		}
		i += from
		if end := i + len(part); end == len(name) || name[end] == '/' {
			return name[:i] + name[end:]
		}
		from = i + 1
	}
}

// compare summarises the cells of a row, and compares them with the first.
func (b *builder) compare(r *row) []Cell {
	cells := make([]Cell, len(r.cells))
	var first []float64
	judge := judge{better: b.c.units.Better(r.unit), exact: b.c.units.Exact(r.unit)}
	for i, s := range r.cells {
		var v []float64
		if s != nil {
			cells[i].NotFinite = s.bad
			v = s.values()
		}
		judge.summarise(&cells[i], v)
		if i == 0 {
			first = v
			continue
		}
		if b.columns[i] != noMode && len(first)+len(v) > 0 {
			cells[i].Versus = judge.compare(first, v, &cells[0], &cells[i])
		}
	}
	return cells
}

// hint says why a row lacks columns: often the same benchmark ran elsewhere.
func (b *builder) hint(r *row) string {
	missing := r.missing()
	if len(missing) == 0 {
		return ""
	}
	for _, other := range b.kin[r.kin()] {
		if other == r || !slices.ContainsFunc(missing, func(i int) bool { return other.cells[i] != nil }) {
			continue
		}
		if other.procs != r.procs {
			return fmt.Sprintf("unmatched: different -cpu: here %s, there %s", orNone(r.procs), orNone(other.procs))
		}
		for _, f := range benchproc.NonSingularFields([]benchproc.Key{r.config, other.config}) {
			return fmt.Sprintf("unmatched: different %s: here %s, there %s (--ignore %s compares them)", f.Name,
				none(r.config.Get(f)), none(other.config.Get(f)), f.Name)
		}
	}
	if !b.c.based {
		return ""
	}
	if missing[0] == 0 {
		return "only in new"
	}
	return "missing in new"
}

func (r *row) missing() (columns []int) {
	for i, s := range r.cells {
		if s == nil {
			columns = append(columns, i)
		}
	}
	return columns
}

func orNone(k benchproc.Key) string { return none(k.StringValues()) }

func none(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// baseUnit is unit as values in base units have it.
func baseUnit(unit string) string {
	_, base := benchunit.Tidy(1, unit)
	return base
}
