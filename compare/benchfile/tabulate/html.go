package tabulate

import (
	"fmt"
	"html/template"
	"io"
)

// WriteHTML writes the report as one page in UTF-8 that loads nothing.
func (r *Report) WriteHTML(out io.Writer) error {
	page := htmlPage{Columns: r.Columns, Prose: r.prose(), Gates: r.Gates}
	if len(r.Columns) > 1 {
		page.Counts = r.counts()
	}
	for _, u := range r.Units {
		w := words{unit: u.Name}
		t := htmlTable{Unit: u.Name, Better: u.Better}
		for _, row := range u.Rows {
			line := htmlRow{Name: w.text(row.Name), Note: row.Note}
			for _, c := range row.Cells {
				line.Cells = append(line.Cells, w.htmlCell(c))
			}
			t.Rows = append(t.Rows, line)
		}
		page.Tables = append(page.Tables, t)
	}
	return pageTemplate.Execute(out, page)
}

type htmlPage struct {
	Columns, Prose []string
	Tables         []htmlTable
	Counts         string
	Gates          []Outcome
}

type htmlTable struct {
	Unit, Better string
	Rows         []htmlRow
}

type htmlRow struct {
	Name, Note string
	Cells      []htmlCell
}

type htmlCell struct {
	Value, Compared string
	Verdict         Verdict
}

func (w words) htmlCell(c Cell) htmlCell {
	cell := htmlCell{Value: w.interval(c)}
	if c.N > 0 {
		cell.Value += fmt.Sprintf(" n=%d", c.N)
	}
	if c.NotFinite > 0 {
		cell.Value += fmt.Sprintf(" +%d not finite", c.NotFinite)
	}
	if c.Versus != nil && c.Versus.Verdict != Unmatched {
		cell.Compared, cell.Verdict = w.comparison(c.Versus), c.Versus.Verdict
	}
	return cell
}

var pageTemplate = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Benchmark report</title>
<style>
body { font: 14px/1.4 sans-serif; margin: 2em; }
table { border-collapse: collapse; }
td, th { border: 1px solid #bbb; padding: .3em .6em; text-align: left; vertical-align: top; }
.worse, .failed { font-weight: bold; }
</style>
</head>
<body>
<h1>Benchmark report</h1>
{{range .Prose}}<p>{{.}}</p>
{{end}}{{$columns := .Columns}}{{range .Tables}}<h2>{{.Unit}}{{with .Better}} ({{.}} is better){{end}}</h2>
<table>
<tr><th>benchmark</th>{{range $columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr><td>{{.Name}}{{with .Note}} ({{.}}){{end}}</td>{{range .Cells}}<td class="{{.Verdict}}">{{.Value}}{{with .Compared}}<br>{{.}}{{end}}</td>{{end}}</tr>
{{end}}</table>
{{end}}<p>{{.Counts}}</p>
{{with .Gates}}<table>
<tr><th>gate</th><th>benchmark</th><th>decision</th><th>why</th></tr>
{{range .}}<tr class="{{.Status}}"><td>{{.Gate}}</td><td>{{.Row}}</td><td>{{.Status}}</td><td>{{.Text}}</td></tr>
{{end}}</table>
{{end}}</body>
</html>
`))
