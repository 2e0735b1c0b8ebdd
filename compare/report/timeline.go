package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// A timeline is one run as a picture shows it: who believed, who acted, where the
// fault struck, and what the fence refused.
type timeline struct {
	from, to, zero time.Duration // what is shown, and the first fault
	lanes          []lane
	strikes        []strike
	splits         []split
}

// A lane is what one candidate did.
type lane struct {
	actor                    string
	terms                    []termSpan
	taken, refused, lateOnes []time.Duration // acts; late ones are stale ones that the fence took
}

// A termSpan is from when until when a candidate believed to lead.
type termSpan struct {
	start, end time.Duration
	token      uint64
}

// A strike is a fault until it was healed.
type strike struct {
	name, actor string
	at, until   time.Duration
	healed      bool
}

// A split is from the start of a term until the last act of an earlier one.
type split struct{ from, to time.Duration }

// newTimeline reads a history.
func newTimeline(run history.Run) timeline {
	events := slices.Clone(run.Events)
	history.Sort(events)
	t := timeline{to: run.Length}
	for _, ev := range events {
		t.add(ev, run.Length)
	}
	for _, late := range measure.LateActs(run) {
		t.widen(late.Began, late.At)
		if l := t.lane(late.Actor); late.Taken {
			l.taken = slices.DeleteFunc(l.taken, func(at time.Duration) bool { return at == late.At })
			l.lateOnes = append(l.lateOnes, late.At)
		}
	}
	t.crop(run)
	return t
}

// add adds an event.
func (t *timeline) add(ev history.Event, length time.Duration) {
	switch ev.Kind {
	case history.Fault:
		t.strikes = append(t.strikes, strike{name: ev.Name, actor: ev.Actor, at: ev.At, until: length})
	case history.Healed:
		for i := range t.strikes {
			if s := &t.strikes[i]; s.name == ev.Name && !s.healed {
				s.until, s.healed = ev.At, true
				break
			}
		}
	case history.TermStarted:
		l := t.lane(ev.Actor)
		l.terms = append(l.terms, termSpan{ev.At, length, ev.Token})
	case history.TermEnded:
		l := t.lane(ev.Actor)
		for i := range l.terms {
			if l.terms[i].token == ev.Token {
				l.terms[i].end = ev.At
			}
		}
	case history.Acted:
		l := t.lane(ev.Actor)
		if ev.Fenced {
			l.taken = append(l.taken, ev.At)
		} else {
			l.refused = append(l.refused, ev.At)
		}
	}
}

// lane finds a candidate's, or adds one.
func (t *timeline) lane(actor string) *lane {
	for i := range t.lanes {
		if t.lanes[i].actor == actor {
			return &t.lanes[i]
		}
	}
	t.lanes = append(t.lanes, lane{actor: actor})
	return &t.lanes[len(t.lanes)-1]
}

// widen lets the split that began at start last until then.
func (t *timeline) widen(start, until time.Duration) {
	for i := range t.splits {
		if t.splits[i].from == start {
			t.splits[i].to = max(t.splits[i].to, until)
			return
		}
	}
	t.splits = append(t.splits, split{start, until})
}

// crop leaves what is quiet before and after out of the picture.
func (t *timeline) crop(run history.Run) {
	if len(t.strikes) == 0 {
		return
	}
	t.zero = t.strikes[0].at
	margin := max(run.TTL/4, time.Millisecond)
	t.from = max(0, t.zero-run.TTL/2)
	last := t.zero + margin
	for _, s := range t.strikes {
		if last = max(last, s.at); s.healed {
			last = max(last, s.until)
		}
	}
	for _, l := range t.lanes {
		for _, s := range l.terms {
			if last = max(last, s.start); s.end < run.Length {
				last = max(last, s.end)
			}
		}
		for _, at := range l.refused {
			last = max(last, at)
		}
	}
	t.to = min(run.Length, last+margin)
}

// longestName is how much of a name is in a picture: there is room for more on no phone.
const longestName = 20

// Heights of a timeline's parts, in pixels.
const (
	strikeRow  = 18
	laneLabel  = 15
	beliefBar  = 9
	actTicks   = 9
	laneHeight = laneLabel + beliefBar + actTicks + 4
	splitRow   = 20
	axisRow    = 20
)

// picture draws the timeline.
func (t timeline) picture(id, title string) template.HTML {
	lanes := strikeRow + len(t.lanes)*laneHeight
	height := lanes + axisRow
	if len(t.splits) > 0 {
		height += splitRow
	}
	p := newPicture(id, height, title, t.words())
	s := scale{lo: milliseconds(t.from - t.zero), hi: milliseconds(t.to - t.zero), width: 1}
	for i, k := range t.strikes {
		p.bar("strike", s.at(milliseconds(k.at-t.zero)), s.at(milliseconds(k.until-t.zero)), 2, height-axisRow-2)
		if i == 0 {
			p.label("ink", s.at(milliseconds(k.at-t.zero)), 0.004, 14, strikeLabel(t.strikes))
		}
	}
	for i, l := range t.lanes {
		t.drawLane(p, s, l, strikeRow+i*laneHeight)
	}
	t.drawSplits(p, s, lanes)
	p.axis(s, 6, height-axisRow, axisSeconds)
	return p.end()
}

// strikeLabel names what struck; the first of several.
func strikeLabel(list []strike) string {
	label := clip(list[0].name, longestName) + " strikes " + clip(list[0].actor, longestName)
	if more := len(list) - 1; more > 0 {
		label += fmt.Sprintf(", and %d more", more)
	}
	return label
}

// drawSplits draws overlaps of acts below y, and says how long the longest is.
func (t timeline) drawSplits(p *picture, s scale, y int) {
	var longest split
	for _, k := range t.splits {
		p.bar("split", s.at(milliseconds(k.from-t.zero)), s.at(milliseconds(k.to-t.zero)), y+2, 4)
		if k.to-k.from > longest.to-longest.from {
			longest = k
		}
	}
	if len(t.splits) > 0 {
		p.label("bad", s.at(milliseconds(longest.from-t.zero)), 0.004, y+17, "acts overlap for "+millis(milliseconds(longest.to-longest.from)))
	}
}

// drawLane draws one candidate's: its name, what it believed, what it did.
func (t timeline) drawLane(p *picture, s scale, l lane, y int) {
	p.text("ink", "start", 0, y+11, clip(l.actor, longestName))
	if n := len(l.refused); n > 0 {
		p.text("bad", "end", 1, y+11, fmt.Sprintf("the fence refuses %s", times(n, "late act")))
	}
	y += laneLabel
	p.level("lane", 0, 1, y+beliefBar/2)
	for _, term := range l.terms {
		if term.start < t.to && term.end > t.from {
			p.bar("belief", s.at(milliseconds(term.start-t.zero)), s.at(milliseconds(term.end-t.zero)), y, beliefBar)
		}
	}
	y += beliefBar
	var ticks strings.Builder
	for _, at := range l.taken {
		if at >= t.from && at <= t.to {
			fmt.Fprintf(&ticks, "M%d 1v%d", int(fine*s.at(milliseconds(at-t.zero))), actTicks-1)
		}
	}
	p.stretched("act", ticks.String(), y, actTicks)
	for _, at := range l.refused {
		p.mark("cross", "refused", s.at(milliseconds(at-t.zero)), y+5)
	}
	for _, at := range l.lateOnes {
		p.mark("ring", "late", s.at(milliseconds(at-t.zero)), y+5)
	}
}

// A moment is one thing that happened, and when, from the fault on.
type moment struct {
	at   time.Duration
	text string
}

// story tells the timeline in the order of time.
func (t timeline) story() (list []moment) {
	say := func(at time.Duration, format string, args ...any) {
		list = append(list, moment{at - t.zero, fmt.Sprintf(format, args...)})
	}
	for _, k := range t.strikes {
		say(k.at, "%s strikes %s", k.name, k.actor)
		if k.healed {
			say(k.until, "%s is over", k.name)
		}
	}
	for _, l := range t.lanes {
		for _, s := range l.terms {
			if s.end > t.from {
				say(s.start, "%s begins to lead, by its own clock until %s", l.actor, millis(milliseconds(s.end-t.zero)))
			}
		}
		for _, at := range l.refused {
			say(at, "a late act of %s arrives: the fence refuses it", l.actor)
		}
		for _, at := range l.lateOnes {
			say(at, "a late act of %s arrives: the fence takes it", l.actor)
		}
	}
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return list
}

// told is how many moments a description has: whoever needs more has events.jsonl.
const told = 12

// words tells the timeline in a sentence.
func (t timeline) words() string {
	var parts []string
	for i, m := range t.story() {
		if i == told {
			parts = append(parts, "and more")
			break
		}
		parts = append(parts, millis(milliseconds(m.at))+": "+m.text)
	}
	return strings.Join(parts, "; ") + "."
}
