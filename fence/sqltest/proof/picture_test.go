package proof_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw testdata/pause.svg again from testdata/pause.txt")

// The picture's measures: a row for each moment, and three lifelines.
const (
	pictureWidth = 700
	rowHeight    = 26
	headHeight   = 86
	timesRight   = 72
	oldX         = 100
	resourceX    = 424
	newX         = 652
	margin       = 14 // between a lifeline and words
)

// pictureStyle has colours for light and dark. No meaning is in a colour alone:
// the words say it too.
const pictureStyle = `
    .page { fill: #ffffff } .row { fill: #f6f8fa } .ink { fill: #1f2328 } .dim { fill: #59636e }
    .life { stroke: #818b98 } .lead { fill: #0969da } .stopped { fill: #b6bec8 }
    .bad { fill: #cf222e; stroke: #cf222e } .good { fill: #1a7f37; stroke: #1a7f37 } .plain { fill: #59636e; stroke: #59636e }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117 } .row { fill: #151b23 } .ink { fill: #e6edf3 } .dim { fill: #9198a1 }
      .life { stroke: #656c76 } .lead { fill: #4493f8 } .stopped { fill: #4a525c }
      .bad { fill: #ff7b72; stroke: #ff7b72 } .good { fill: #56d364; stroke: #56d364 } .plain { fill: #9198a1; stroke: #9198a1 }
    }
    text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; stroke: none }
    .head { font-weight: 600 } .time { font-family: ui-monospace, Consolas, monospace; font-size: 11px }
`

// picture draws a timeline as a sequence diagram that needs nothing else.
// Moments stand in rows of equal height: the times beside them count.
func picture(l timeline) string {
	d := &drawing{}
	height := headHeight + rowHeight*len(l.moments) + 10
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc">`,
		pictureWidth, height, pictureWidth, height)
	d.add(`  <title id="title">A leader that was paused between its check and its write</title>`)
	d.add(`  <desc id="desc">%s</desc>`, html.EscapeString(l.describe()))
	d.add(`  <style>%s  </style>`, pictureStyle)
	d.add(`  <rect class="page" width="%d" height="%d"/>`, pictureWidth, height)
	d.text(12, 20, "start", "dim", l.title)
	d.text(12, 37, "start", "dim", "Times in ms since SIGSTOP; the rows are not to scale.")
	d.lives(l, height-10)
	for i, m := range l.moments {
		d.moment(i, m)
	}
	d.add(`</svg>`)
	return d.b.String()
}

// describe is the timeline in sentences, for those who hear it.
func (l timeline) describe() string {
	text := l.title + "."
	for _, m := range l.moments {
		text += fmt.Sprintf(" At %.2f ms, %s %s.", m.millis(), m.who, strings.Replace(m.what, toResource, "to ", 1))
	}
	return text
}

// drawing is an SVG that grows.
type drawing struct{ b strings.Builder }

func (d *drawing) add(format string, a ...any) { fmt.Fprintf(&d.b, format+"\n", a...) }

func (d *drawing) text(x, y int, anchor, class, s string) {
	d.add(`  <text class="%s" x="%d" y="%d" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(s))
}

func rowY(i int) int { return headHeight + rowHeight*i + rowHeight/2 }

// lives draws the rows, the lifelines, and on them who leads and who is stopped.
func (d *drawing) lives(l timeline, bottom int) {
	for i := 0; i < len(l.moments); i += 2 {
		d.box("row", 6, rowY(i)-rowHeight/2, pictureWidth-12, rowHeight)
	}
	for _, life := range []struct {
		x    int
		name string
	}{{oldX, oldLeader}, {resourceX, "resource"}, {newX, newLeader}} {
		d.text(life.x, headHeight-22, "middle", "ink head", life.name)
		d.add(`  <line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`, life.x, headHeight-14, life.x, bottom)
	}
	row := map[string]int{}
	for i, m := range l.moments {
		row[strings.Fields(m.what)[0]] = rowY(i)
	}
	d.bar("lead", oldX, headHeight-8, row["SIGSTOP,"])
	d.bar("stopped", oldX, row["SIGSTOP,"], row["SIGCONT:"])
	d.bar("lead", newX, row["bid"], bottom)
}

func (d *drawing) box(class string, x, y, width, height int) {
	d.add(`  <rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`, class, x, y, width, height)
}

func (d *drawing) bar(class string, x, from, to int) { d.box(class, x-4, from, 8, to-from) }

// moment draws one row: its time, and either words beside a lifeline or an arrow
// with words above it.
func (d *drawing) moment(i int, m moment) {
	y := rowY(i)
	d.text(timesRight, y+4, "end", "dim time", fmt.Sprintf("%.2f", m.millis()))
	words, arrow := strings.CutPrefix(m.what, toResource)
	switch {
	case arrow && m.who == newLeader:
		d.text((resourceX+newX)/2, y, "middle", "ink", words)
		d.arrow("plain", newX-6, resourceX+2, y+7)
	case arrow:
		d.text((oldX+resourceX)/2, y, "middle", "ink", words)
		if strings.HasSuffix(words, refused) {
			d.arrow("good", oldX+6, resourceX-16, y+7)
			d.add(`  <path class="good" d="M%d %d l8 8 m0 -8 l-8 8" stroke-width="2"/>`, resourceX-12, y+3)
		} else {
			d.arrow("bad", oldX+6, resourceX-2, y+7)
		}
	case m.who == newLeader:
		d.text(newX-margin, y+4, "end", "ink", words)
	case m.who == theStore:
		d.text(oldX+margin, y+4, "start", "dim", theStore+": "+words)
	default:
		d.text(oldX+margin, y+4, "start", "ink", words)
	}
}

func (d *drawing) arrow(class string, from, to, y int) {
	back := -6
	if to < from {
		back = 6
	}
	d.add(`  <path class="%s" d="M%d %d H%d" fill="none"/>`, class, from, y, to)
	d.add(`  <path class="%s" d="M%d %d l%d -4 v8 z"/>`, class, to, y, back)
}

// TestPicture draws the pause that the documentation shows: testdata/pause.txt,
// which a real run has written.
func TestPicture(t *testing.T) {
	text, err := os.ReadFile("testdata/pause.txt")
	check(t, err)
	l, err := parseTimeline(string(text))
	check(t, err)
	got := picture(l)
	if *update {
		check(t, os.WriteFile("testdata/pause.svg", []byte(got), 0o644))
	}
	want, err := os.ReadFile("testdata/pause.svg")
	check(t, err)
	if got != string(want) {
		t.Errorf("testdata/pause.svg is not what testdata/pause.txt says; -update draws it again")
	}
	for x := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := x.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
