package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"incumbent/compare/lab/remote"
)

// RemoteLines writes what was measured at the user's own endpoints beside the runs,
// below the first screen: a line for each master and for each mode. Nothing for nil.
func RemoteLines(w io.Writer, f *remote.Figures) {
	r := newRemote(f)
	if r == nil {
		return
	}
	_, _ = fmt.Fprintln(w) // the caller writes to memory
	for _, t := range r.Tables {
		_, _ = fmt.Fprintf(w, "%s\n", t.Title)
		lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range t.Rows {
			_, _ = fmt.Fprintf(lines, "  %s\t%s", row[0], printable(row[1]))
			for i, cell := range row[2:] {
				_, _ = fmt.Fprintf(lines, "\t%s %s", t.Columns[i+2], cell)
			}
			_, _ = fmt.Fprintln(lines)
		}
		_ = lines.Flush()
	}
	_, _ = fmt.Fprintf(w, "%s\n", r.Note)
}

// remotePart is the part of a page about the user's own endpoints.
type remotePart struct {
	Tables []remoteTable
	Note   string
}

// remoteTable is one of its tables. The first column is the mode.
type remoteTable struct {
	Title   string
	Columns []string
	Rows    [][]string
}

// newRemote puts the figures in words; nil where there are none.
func newRemote(f *remote.Figures) *remotePart {
	if f == nil || len(f.RTT) == 0 {
		return nil
	}
	rtt := remoteTable{Title: "Round trips (PING, ms):", Columns: []string{"mode", "master", "n", "min", "p50", "p90", "p99", "max"}}
	for _, m := range f.RTT {
		rtt.Rows = append(rtt.Rows, append([]string{m.Mode, m.Master, grouped(m.N), figure3(m.Min)}, timesRow(m.Times)...))
	}
	part := &remotePart{Tables: []remoteTable{rtt}, Note: remoteNote(f)}
	renewal := remoteTable{Title: "A renewal (ms; requests and bytes on the network, all masters together):",
		Columns: []string{"mode", "masters", "n", "p50", "p90", "p99", "max", "requests", "sent", "received"}}
	for _, m := range f.Renewal {
		row := append([]string{m.Mode, grouped(m.Masters), grouped(m.N)}, timesRow(m.Times)...)
		renewal.Rows = append(renewal.Rows, append(row, figure3(m.Requests), whole(m.Sent), whole(m.Received)))
	}
	if len(renewal.Rows) > 0 {
		part.Tables = append(part.Tables, renewal)
	}
	return part
}

func timesRow(t remote.Times) []string {
	return []string{figure3(t.P50), figure3(t.P90), figure3(t.P99), figure3(t.Max)}
}

func figure3(v float64) string { return fmt.Sprintf("%.3g", v) }
func whole(v float64) string   { return fmt.Sprintf("%.0f", v) }

// remoteNote says how to read it.
func remoteNote(f *remote.Figures) string {
	return fmt.Sprintf("Floors: %s. Round trips and renewals are measured straight from this machine, runs through two local proxies.", f.Floors)
}

// remote is the part about the user's own endpoints.
func (m *markdown) remote(f *remote.Figures) {
	r := newRemote(f)
	if r == nil {
		return
	}
	m.heading("Your endpoints")
	for _, t := range r.Tables {
		m.printf("%s\n\n", plainText(t.Title))
		m.table(t.Columns, t.Rows)
	}
	m.printf("%s\n\n", plainText(r.Note))
}
