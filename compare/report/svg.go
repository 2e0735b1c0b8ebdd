package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A picture is an SVG that is as wide as its place: positions across are in per cent,
// those down in pixels, so that text has one size on a phone and on a screen. Colours
// come from the classes of the page's style.
type picture struct {
	b      strings.Builder
	height int
}

// newPicture begins a picture. id tells its title from others of the page; title and
// about are for those who do not see it.
func newPicture(id string, height int, title, about string) *picture {
	p := &picture{height: height}
	p.printf(`<svg class="picture" width="100%%" height="%d" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		height, id, id, id, html.EscapeString(title), id, html.EscapeString(about))
	return p
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// end closes the picture. All text in it was escaped when it was added.
func (p *picture) end() template.HTML {
	p.b.WriteString("</svg>")
	return template.HTML(p.b.String())
}

// percentOf writes a position across.
func percentOf(share float64) string {
	return strconv.FormatFloat(100*share, 'f', 2, 64) + "%"
}

// bar is a rectangle from one share of the width to another. It can be seen however
// short it is.
func (p *picture) bar(class string, from, to float64, y, height int) {
	p.printf(`<rect class="%s" x="%s" width="%s" y="%d" height="%d"/>`, class, percentOf(from), percentOf(max(to-from, 0.001)), y, height)
}

// rule is a vertical line.
func (p *picture) rule(class string, at float64, from, to int) {
	p.printf(`<line class="%s" x1="%s" x2="%s" y1="%d" y2="%d"/>`, class, percentOf(at), percentOf(at), from, to)
}

// level is a horizontal line.
func (p *picture) level(class string, from, to float64, y int) {
	p.printf(`<line class="%s" x1="%s" x2="%s" y1="%d" y2="%d"/>`, class, percentOf(from), percentOf(to), y, y)
}

// mark puts one of the page's symbols at a place.
func (p *picture) mark(symbol, class string, at float64, y int) {
	p.printf(`<use href="#%s" class="%s" x="%s" y="%d"/>`, symbol, class, percentOf(at), y)
}

// text writes at a place; anchor is start, middle or end.
func (p *picture) text(class, anchor string, at float64, y int, s string) {
	p.printf(`<text class="%s" text-anchor="%s" x="%s" y="%d">%s</text>`, class, anchor, percentOf(at), y, html.EscapeString(s))
}

// character is the share of the narrowest picture, on a phone, that one takes.
const character = 0.019

// label writes beside a place, gap away from it: to its right, or to its left where
// there is no room on a phone, or else at the right edge.
func (p *picture) label(class string, at, gap float64, y int, s string) {
	width := character * float64(utf8.RuneCountInString(s))
	switch {
	case at+gap+width <= 1:
		p.text(class, "start", at+gap, y, s)
	case at-gap-width >= 0:
		p.text(class, "end", at-gap, y, s)
	default:
		p.text(class, "end", 1, y, s)
	}
}

// stretched draws a path whose x is from 0 to fine across the width.
func (p *picture) stretched(class, path string, y, height int) {
	if path != "" {
		p.printf(`<svg x="0" y="%d" width="100%%" height="%d" viewBox="0 0 %d %d" preserveAspectRatio="none" overflow="visible"><path class="%s" d="%s"/></svg>`,
			y, height, fine, height, class, path)
	}
}

// fine is how many steps a stretched path has across.
const fine = 1000

// A scale places values across a picture, from lo at its left edge to hi at the part
// of its width that is for it.
type scale struct {
	lo, hi float64
	width  float64
	// unit stands behind the last tick, or beside the axis where there is room.
	unit string
	// log says that it is linear near 0 only, and logarithmic further away.
	log bool
}

// at is the share of the width where v is, within the scale.
func (s scale) at(v float64) float64 {
	lo, hi := s.bent(s.lo), s.bent(s.hi)
	if hi <= lo {
		return 0
	}
	return s.width * min(max((s.bent(v)-lo)/(hi-lo), 0), 1)
}

// bent is v as the scale spaces it: below 1 about linear, above by powers of ten, to
// both sides of 0.
func (s scale) bent(v float64) float64 {
	if !s.log {
		return v
	}
	return math.Copysign(math.Log10(1+math.Abs(v)), v)
}

// powers are the ticks of a logarithmic scale: 0 and, to both sides of it, powers of
// ten, every other one where there are many. Near 0 there is no room for more.
func (s scale) powers() (list []float64) {
	first, every := 1, 1
	switch decades := s.bent(s.hi) - s.bent(s.lo); {
	case decades > 6:
		every = 2
	case decades < 2:
		first = 0
	}
	list = append(list, 0)
	for e := first; e <= 9; e += every {
		if v := math.Pow10(e); v <= s.hi {
			list = append(list, v)
		}
		if v := -math.Pow10(e); v >= s.lo {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// ticks are round values on the scale, at most n and a few.
func (s scale) ticks(n int) (list []float64) {
	step := roundStep((s.hi - s.lo) / float64(n))
	if step <= 0 {
		return nil
	}
	first := int(s.lo / step)
	for i := first - 1; float64(i)*step <= s.hi+step*1e-9; i++ {
		if v := float64(i) * step; v >= s.lo-step*1e-9 {
			list = append(list, v)
		}
	}
	return list
}

// roundStep is the smallest of 1, 2 and 5 times a power of ten that is not below v.
func roundStep(v float64) float64 {
	if v <= 0 {
		return 0
	}
	power := 1e-9
	for power*10 < v {
		power *= 10
	}
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// axis writes a scale's ticks below y.
func (p *picture) axis(s scale, n, y int, write func(v float64) string) {
	p.marks(s, s.ticks(n), y, write)
}

// marks writes those ticks below y.
func (p *picture) marks(s scale, ticks []float64, y int, write func(v float64) string) {
	p.level("axis", 0, s.width, y)
	if s.width < 1 {
		p.text("dim", "start", s.width+0.07, y+15, s.unit)
	}
	for i, v := range ticks {
		at := s.at(v)
		p.rule("axis", at, y, y+4)
		text := write(v)
		if i == len(ticks)-1 && s.unit != "" && s.width == 1 {
			text += " " + s.unit
		}
		anchor, half := "middle", character*float64(utf8.RuneCountInString(text))/2
		switch { // an edge must not cut it, least of all a minus
		case at < half:
			anchor = "start"
		case at > 1-half:
			anchor = "end"
		}
		p.text("dim", anchor, at, y+15, text)
	}
}

// axisMillis writes a tick in milliseconds.
func axisMillis(v float64) string {
	if v == float64(int(v)) {
		return grouped(int(v))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// axisSeconds writes a tick of a timeline, which is in milliseconds.
func axisSeconds(v float64) string {
	s := strconv.FormatFloat(math.Round(v*1000)/1e6, 'f', -1, 64)
	switch {
	case v == 0:
		return "0"
	case v > 0:
		s = "+" + s
	}
	return s + " s"
}
