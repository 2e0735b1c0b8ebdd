package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// width of the table's columns; together at most 100 characters.
const tableRow = "%-17s %7s %7s %7s  %-19s %6s %6s %7s %11s\n"

// WriteTable writes a result as a table for people, in ASCII, at most 100 columns wide.
// versions says what was measured with, besides the server.
func (r *Result) WriteTable(w io.Writer, versions ...string) error {
	var b strings.Builder
	head := append([]string{r.Server, count1(len(r.Servers), "server"), count1(r.CPUs, "CPU"), count1(r.Rounds, "round"), fmt.Sprintf("seed %d", r.Seed)}, versions...)
	writeWrapped(&b, head)
	b.WriteByte('\n')
	fmt.Fprintf(&b, tableRow, "", "p50", "p90", "p99", "x floor [95 %]", "A/A", "allocs", "cmds", "bytes in/out")
	part := ""
	for i := range r.Ops {
		m := &r.Ops[i]
		if p := partOf(m.Op); p != part {
			part = p
			fmt.Fprintf(&b, "%s\n", p)
		}
		fmt.Fprintf(&b, tableRow, "  "+m.Name, duration(m.P50), duration(m.P90), duration(m.P99), r.floorOf(m),
			fmt.Sprintf("%.1f%%", 100*m.Noise()), fmt.Sprint(m.Heap.Allocs), m.Counts.words(),
			fmt.Sprintf("%.0f/%.0f", m.Counts.ReceivedBytes, m.Counts.SentBytes))
	}
	b.WriteString(legend)
	r.others(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeWrapped writes words with commas in between, in lines that fit.
func writeWrapped(b *strings.Builder, words []string) {
	const most = 100
	at := 0
	for i, word := range words {
		switch {
		case i == 0:
		case at+len(", ")+len(word) >= most:
			b.WriteString(",\n")
			at = 0
		default:
			b.WriteString(", ")
			at += len(", ")
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteByte('\n')
}

const legend = `
x floor: in times of "evalsha", also for "set+delete"; acquire+release in times of "set+delete".
A/A: each round has two identical blocks, A and A'. This is the median of A/A' over all rounds, the
end of its 95 % interval that is farther from 1. Differences that are smaller mean nothing.
cmds: commands sent to a master + called inside scripts there. bytes: in to, out of one master.
`

// partOf is the heading under which an operation stands.
func partOf(o Op) string {
	switch {
	case o.Mode == "":
		return "floors"
	case strings.HasPrefix(o.Mode, "redsync"):
		return fmt.Sprintf("redsync, %s, for orientation", count1(o.Masters, "master"))
	case o.Masters > 1:
		return fmt.Sprintf("%s, %d masters", o.Mode, o.Masters)
	}
	return o.Mode
}

func count1(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// floorOf is the ratio to the floor, and its interval.
func (r *Result) floorOf(m *Measurement) string {
	if m.Name == m.Floor {
		return "1"
	}
	return fmt.Sprintf("%.2f [%.2f-%.2f]", m.XFloor.Median, m.XFloor.Lo, m.XFloor.Hi)
}

// words are how many commands were sent, and how many more scripts called.
func (c Counts) words() string {
	sent := compactNumber(c.Commands())
	if inside := c.Inside(); c.Alone() && inside > 0 {
		return sent + "+" + compactNumber(inside)
	}
	return sent
}

// compactNumber has one decimal, unless it is 0.
func compactNumber(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// others says where servers counted more than this client did.
func (r *Result) others(b *strings.Builder) {
	if r.Alone() {
		b.WriteString("The servers counted the same bytes as this client: nobody else used them.\n")
		return
	}
	b.WriteString("\nOthers use these servers too, so that only what this client counted is shown above. Servers counted:\n")
	for i := range r.Ops {
		if m := &r.Ops[i]; !m.Counts.Alone() {
			fmt.Fprintf(b, "  %-24s %s commands, %.0f/%.0f bytes\n", m.Op, compactNumber(sum(m.Counts.Executed)), m.Counts.ServerReceived, m.Counts.ServerSent)
		}
	}
}

// duration shows seconds with three digits.
func duration(sec float64) string {
	if math.IsNaN(sec) || math.IsInf(sec, 0) {
		return "-"
	}
	for _, u := range []struct {
		d    time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if v := sec / u.d.Seconds(); v >= 1 {
			digits := max(0, 2-int(math.Log10(v)))
			return fmt.Sprintf("%.*f%s", digits, v, u.name)
		}
	}
	return fmt.Sprintf("%.0fns", sec*1e9)
}
