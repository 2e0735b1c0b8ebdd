package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare/history"
)

// handover is a run of which the times are in milliseconds: a leads until 300, b from
// 320; three of a's acts come at 330, 350 and 400. The first comes before any of b's, so
// that no fence can know; the second passes one that is broken.
func handover() history.Run {
	at := func(ms int, actor string, kind history.Kind, token uint64, fenced bool) history.Event {
		return history.Event{At: time.Duration(ms) * time.Millisecond, Actor: actor, Kind: kind, Token: token, Name: "pause-write", Fenced: fenced, Unfenced: true}
	}
	run := history.Run{TTL: 400 * time.Millisecond, Length: time.Second, Events: []history.Event{
		at(10, "a", history.TermStarted, 1, false), at(20, "a", history.Acted, 1, true),
		at(100, "a", history.Fault, 0, false), at(300, "a", history.TermEnded, 1, false),
		at(320, "b", history.TermStarted, 2, false), at(330, "a", history.Acted, 1, true), at(340, "b", history.Acted, 2, true),
		at(350, "a", history.Acted, 1, true), at(390, "lab", history.Healed, 0, false), at(400, "a", history.Acted, 1, false),
	}}
	slices.Reverse(run.Events)
	return run
}

func TestTimeline(t *testing.T) {
	const ms = time.Millisecond
	tl := newTimeline(handover())
	if len(tl.lanes) != 2 || tl.lanes[0].actor != "a" || tl.lanes[1].actor != "b" {
		t.Fatalf("lanes are %+v", tl.lanes)
	}
	a := tl.lanes[0]
	if !slices.Equal(a.terms, []termSpan{{10 * ms, 300 * ms, 1}}) || !slices.Equal(a.taken, []time.Duration{20 * ms, 330 * ms}) ||
		!slices.Equal(a.lateOnes, []time.Duration{350 * ms}) || !slices.Equal(a.refused, []time.Duration{400 * ms}) {
		t.Errorf("a did %+v", a)
	}
	if b := tl.lanes[1]; b.terms[0].end != time.Second || len(b.lateOnes)+len(b.refused) > 0 {
		t.Errorf("b did %+v", b)
	}
	if !slices.Equal(tl.splits, []split{{320 * ms, 400 * ms}}) {
		t.Errorf("splits are %+v", tl.splits)
	}
	if !slices.Equal(tl.strikes, []strike{{"pause-write", "a", 100 * ms, 390 * ms, true}}) {
		t.Errorf("strikes are %+v", tl.strikes)
	}
	if tl.zero != 100*ms || tl.from != 0 || tl.to != 500*ms {
		t.Errorf("shows %s to %s, 0 at %s", tl.from, tl.to, tl.zero)
	}
	var story []string
	for _, m := range tl.story() {
		story = append(story, m.at.String()+" "+m.text)
	}
	want := "-90ms a begins to lead, by its own clock until 200 ms; 0s pause-write strikes a; 220ms b begins to lead, by its own clock until 900 ms; " +
		"250ms a late act of a arrives: the fence takes it; 290ms pause-write is over; 300ms a late act of a arrives: the fence refuses it"
	if got := strings.Join(story, "; "); got != want {
		t.Errorf("the story is\n%s\nwant\n%s", got, want)
	}
}

// TestTimelinePicture: what is refused has a cross, and where the fault struck a band.
func TestTimelinePicture(t *testing.T) {
	text := string(newTimeline(handover()).picture("x", "title <b>"))
	for _, want := range []string{
		`<title id="x-t">title &lt;b&gt;</title>`, `<use href="#cross" class="refused" x="80.00%"`, `<use href="#ring" class="late" x="70.00%"`,
		`<rect class="strike" x="20.00%" width="58.00%"`, `<rect class="belief" x="2.00%" width="58.00%"`, `<rect class="split" x="64.00%" width="16.00%"`,
		"acts overlap for 80.0 ms", "the fence refuses 1 late act", "pause-write strikes a",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if text := string(newTimeline(history.Run{}).picture("x", "")); strings.Contains(text, "NaN") {
		t.Errorf("of nothing: %s", text)
	}
}

func TestScale(t *testing.T) {
	for _, tt := range []struct {
		s     scale
		ticks []float64
	}{
		{scale{lo: 0, hi: 2000, width: 1}, []float64{0, 500, 1000, 1500, 2000}},
		{scale{lo: -1000, hi: 700, width: 1}, []float64{-1000, -500, 0, 500}},
		{scale{lo: 0, hi: 0.9, width: 1}, []float64{0, 0.5}},
		{scale{width: 1}, nil},
	} {
		if got := tt.s.ticks(4); !slices.Equal(got, tt.ticks) {
			t.Errorf("%+v: ticks %v, want %v", tt.s, got, tt.ticks)
		}
	}
	log := scale{lo: -99, hi: 999, width: 0.5, log: true}
	if got := log.powers(); !slices.Equal(got, []float64{-10, 0, 10, 100}) {
		t.Errorf("powers %v", got)
	}
	if a, b, c := log.at(-99), log.at(0), log.at(999); a != 0 || b < 0.19 || b > 0.21 || c != 0.5 {
		t.Errorf("at %v, %v, %v", a, b, c)
	}
	for v, want := range map[float64]float64{0.3: 0.3, 7: 8, 1974: 2000, 2000: 2000, 2001: 3000} {
		if got := roundUp(v); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("roundUp(%v) = %v, want %v", v, got, want)
		}
	}
}

// TestSteps: the curve ends at the share of all runs that had a successor.
func TestSteps(t *testing.T) {
	s := scale{hi: 1000, width: 1}
	got := steps(s, []time.Duration{250 * time.Millisecond, 250 * time.Millisecond, time.Second}, 4)
	if want := "M0 120H250V60.0H1000V30.0H1000"; got != want {
		t.Errorf("steps are %s, want %s", got, want)
	}
}
