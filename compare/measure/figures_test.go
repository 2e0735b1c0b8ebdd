package measure_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// Histories in milliseconds, for hand-computed figures.

const msec = time.Millisecond

func ev(at int, actor string, kind history.Kind, token uint64) history.Event {
	return history.Event{At: time.Duration(at) * msec, Actor: actor, Kind: kind, Token: token}
}

func started(at int, actor string, token uint64, deadline int) history.Event {
	e := ev(at, actor, history.TermStarted, token)
	e.Deadline = time.Duration(deadline) * msec
	return e
}

func renewed(at int, actor string, token uint64, deadline int) history.Event {
	e := ev(at, actor, history.Renewed, token)
	e.Deadline = time.Duration(deadline) * msec
	return e
}

func stopping(at int, actor string, token uint64) history.Event {
	return ev(at, actor, history.TermStopping, token)
}

func ended(at int, actor string, token uint64) history.Event {
	return ev(at, actor, history.TermEnded, token)
}

func checked(at int, actor string, token uint64) history.Event {
	return ev(at, actor, history.Checked, token)
}

func acted(at int, actor string, token uint64, fenced bool) history.Event {
	e := ev(at, actor, history.Acted, token)
	e.Unfenced, e.Fenced = true, fenced
	return e
}

func struck(at int, actor string, floor int) history.Event {
	e := ev(at, actor, history.Fault, 0)
	e.Floor = time.Duration(floor) * msec
	return e
}

func down(at int, master string) history.Event { return ev(at, master, history.MasterDown, 0) }

func up(at int, master string) history.Event { return ev(at, master, history.MasterUp, 0) }

// run numbers the events of each actor in the order given.
func run(length int, events ...history.Event) history.Run {
	n := map[string]int{}
	for i := range events {
		events[i].N = n[events[i].Actor]
		n[events[i].Actor]++
	}
	return history.Run{Mode: "single", Masters: 1, Fault: "crash", Guards: "off", Lab: "hand", Length: time.Duration(length) * msec, Events: events}
}

type figureTest struct {
	name string
	run  history.Run
	want measure.Figures
}

var figureTests = []figureTest{
	{"nothing", run(1000), measure.Figures{Leaderless: 0}},
	{
		"nobody ever led after the fault",
		run(5000, started(0, "a", 1, 2000), struck(500, "a", 1600), ended(2000, "a", 1)),
		measure.Figures{Leaderless: 3000 * msec},
	},
	{
		"crash: the lease had 1600 left, the next term came 10 later",
		run(5000, started(0, "a", 1, 2000), acted(100, "a", 1, true), struck(500, "a", 1600), ended(2080, "a", 1),
			started(2110, "b", 2, 4000), acted(2111, "b", 2, true)),
		measure.Figures{
			FailedOver: true, Failover: 1610 * msec, Overshoot: 10 * msec, Leaderless: 30 * msec, Acts: 2,
		},
	},
	{
		"resign: no floor, and an act that was on its way",
		run(2000, started(0, "a", 1, 2000), struck(500, "a", 0), ended(501, "a", 1), started(503, "b", 2, 2500), acted(504, "a", 1, true)),
		measure.Figures{
			FailedOver: true, Failover: 3 * msec, Overshoot: 3 * msec, Leaderless: 2 * msec,
			ActOverlap: 1 * msec, StaleAttempted: 1, StaleAcceptedUnfenced: 1, Acts: 1,
		},
	},
	{
		"split brain: the fence takes what comes before the next leader's first act, and then no more; one that fails does",
		run(9000, started(0, "a", 1, 2000), struck(500, "a", 1600), renewed(1000, "a", 1, 4000), started(600, "b", 2, 3000),
			acted(601, "a", 1, true), acted(602, "b", 2, true), acted(700, "a", 1, false), acted(800, "a", 1, true),
			ended(4000, "a", 1), ended(3000, "b", 2)),
		measure.Figures{
			FailedOver: true, Failover: 100 * msec, Overshoot: -1500 * msec, Leaderless: 5000 * msec, BeliefOverlap: 2400 * msec,
			ActOverlap: 200 * msec, StaleAttempted: 3, StaleAcceptedUnfenced: 3, StaleAcceptedFenced: 1, Acts: 4,
		},
	},
	{
		"the leader outlives the fault",
		run(3000, started(0, "a", 1, 2000), renewed(600, "a", 1, 2600), struck(700, "m", 1900), renewed(1200, "a", 1, 3200)),
		measure.Figures{Kept: true},
	},
	{
		"pause: two stale acts, refused by the fence; the last one counts for the overlap",
		run(9000, started(0, "a", 1, 2000), struck(1000, "a", 1000), ended(2000, "a", 1), started(2010, "b", 2, 4000),
			acted(2012, "b", 2, true), acted(3000, "a", 1, false), acted(3500, "a", 1, false)),
		measure.Figures{
			FailedOver: true, Failover: 1010 * msec, Overshoot: 10 * msec, Leaderless: 10 * msec,
			ActOverlap: 1490 * msec, StaleAttempted: 2, StaleAcceptedUnfenced: 2, Acts: 3,
		},
	},
	{
		"two believe for 400 ms; a third one later does not overlap",
		run(9000, started(0, "a", 1, 2000), struck(100, "a", 1900), started(1600, "b", 2, 4000), ended(2000, "a", 1),
			ended(4000, "b", 2), started(4000, "c", 3, 9500)),
		measure.Figures{
			FailedOver: true, Failover: 1500 * msec, Overshoot: -400 * msec, BeliefOverlap: 400 * msec,
		},
	},
	{
		"of several overlaps the longest counts, not their sum; and two terms that begin together make no act stale",
		run(9000, started(0, "a", 1, 2000), struck(100, "a", 1900), started(1900, "b", 2, 4000), ended(2000, "a", 1),
			started(3700, "c", 3, 3750), started(3700, "d", 4, 9500), acted(3740, "c", 3, true), ended(3750, "c", 3), ended(4000, "b", 2)),
		measure.Figures{FailedOver: true, Failover: 1800 * msec, Overshoot: -100 * msec, BeliefOverlap: 300 * msec, Acts: 1},
	},
	{
		"one candidate's own terms are no belief overlap, and the window is from the first later term",
		run(4000, started(0, "a", 1, 2000), ended(1000, "a", 1), started(900, "a", 2, 2000), started(950, "a", 3, 5000),
			acted(1000, "a", 1, false)),
		measure.Figures{ActOverlap: 100 * msec, StaleAttempted: 1, StaleAcceptedUnfenced: 1, Acts: 1},
	},
	{
		"an act in the instant in which the next term starts is not stale",
		run(4000, started(0, "a", 1, 2000), ended(900, "a", 1), started(1000, "b", 2, 5000), acted(1000, "a", 1, true)),
		measure.Figures{Leaderless: 100 * msec, Acts: 1},
	},
	{
		"a term that began with the fault is not the next one, and an unknown act is only an act",
		run(4000, struck(1000, "a", 5), started(1000, "a", 1, 4500), acted(1500, "z", 9, true)),
		measure.Figures{Acts: 1},
	},
	{
		"of several faults the first one counts",
		run(4000, started(0, "a", 1, 1000), struck(500, "a", 500), struck(1100, "b", 1), ended(1000, "a", 1), started(1200, "b", 2, 4500)),
		measure.Figures{FailedOver: true, Failover: 700 * msec, Overshoot: 200 * msec, Leaderless: 200 * msec},
	},
}

// led is a run in which a leads until 2000 and is struck at 500; b leads from then on.
func led(then int, more ...history.Event) history.Run {
	all := []history.Event{started(0, "a", 1, 2000), struck(500, "m1", 1500), ended(2000, "a", 1), started(then, "b", 2, 9500)}
	return run(9000, append(all, more...)...)
}

// TestOutage: the store's own outage, and the election after it.
func TestOutage(t *testing.T) {
	no := time.Duration(-1)
	for _, tt := range []struct {
		name             string
		masters          int
		run              history.Run
		outage, election time.Duration // no for none
	}{
		{"no master went down", 1, led(3000), no, no},
		{"it hung for 1600, and 900 later somebody led", 1, led(3000, down(500, "m1"), up(2100, "m1")), 1600 * msec, 900 * msec},
		{"a restart that takes no time", 1, led(3000, down(500, "m1"), up(500, "m1")), 0, 2500 * msec},
		{"it did not come back", 1, led(3000, down(500, "m1")), no, no},
		{"a term that begins shows that it serves", 1, led(2050, down(510, "m1"), up(2100, "m1")), 1550 * msec, 0},
		{"the next term was before the outage", 1, led(505, down(510, "m1"), up(2100, "m1")), 1600 * msec, no},
		{"down and up before the fault", 1, led(3000, down(100, "m1"), up(200, "m1")), no, no},
		{"a majority served on", 3, led(3000, down(500, "m1"), up(2100, "m1")), no, no},
		{"another one was down already", 3, led(3000, down(100, "m2"), down(500, "m1"), up(2100, "m1")), 1600 * msec, 900 * msec},
		{"the first of two that come back makes a majority", 3, led(3000, down(500, "m1"), down(600, "m2"), up(900, "m2"), up(2100, "m1")), 400 * msec, 2100 * msec},
		{"the second fault does not count", 1, led(3000, struck(600, "m1", 0), down(700, "m1"), up(2100, "m1")), no, no},
		{"nor what makes the first one longer", 1, led(3000, down(500, "m1"), struck(600, "m1", 0), up(2100, "m1")), 1600 * msec, 900 * msec},
		{
			"the leader outlives it", 1,
			run(3000, started(0, "a", 1, 2000), struck(500, "m1", 1500), down(500, "m1"), up(900, "m1"), renewed(1000, "a", 1, 4000)), 400 * msec, no,
		},
	} {
		tt.run.Masters = tt.masters
		f := measure.Of(tt.run)
		if want := tt.outage != no; f.StoreOut != want || want && f.Outage != tt.outage {
			t.Errorf("%s: outage is %v, %v, want %v", tt.name, f.StoreOut, f.Outage, tt.outage)
		}
		if want := tt.election != no; f.Elected != want || want && f.Election != tt.election {
			t.Errorf("%s: election is %v, %v, want %v", tt.name, f.Elected, f.Election, tt.election)
		}
		if f.Elected && f.Outage+f.Election != f.Failover {
			t.Errorf("%s: %v and %v are not the failover, %v", tt.name, f.Outage, f.Election, f.Failover)
		}
	}
}

// TestOutageOfACell: runs without an outage, or an election after it, are not counted.
func TestOutageOfACell(t *testing.T) {
	var tally measure.Tally
	for _, r := range []history.Run{
		led(3000), led(3000, down(500, "m1"), up(2100, "m1")), led(505, down(510, "m1"), up(900, "m1")),
	} {
		tally.Add(r, measure.Of(r))
	}
	c := tally.Cell()
	if want := (measure.Quantiles{2, 400, 1600, 1600, 1600}); c.Outage != want {
		t.Errorf("outage is %+v, want %+v", c.Outage, want)
	}
	if want := (measure.Quantiles{1, 900, 900, 900, 900}); c.Election != want {
		t.Errorf("election is %+v, want %+v", c.Election, want)
	}
}

func TestOf(t *testing.T) {
	for _, tt := range figureTests {
		if got := measure.Of(tt.run); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

func TestQuantilesOf(t *testing.T) {
	ten := make([]time.Duration, 10)
	for i := range ten {
		ten[i] = time.Duration(10-i) * msec
	}
	for _, tt := range []struct {
		in   []time.Duration
		want measure.Quantiles
	}{
		{nil, measure.Quantiles{}},
		{[]time.Duration{0}, measure.Quantiles{N: 1}},
		{[]time.Duration{1500 * time.Microsecond}, measure.Quantiles{1, 1.5, 1.5, 1.5, 1.5}},
		{[]time.Duration{3 * msec, -1 * msec}, measure.Quantiles{2, -1, 3, 3, 3}},
		{ten, measure.Quantiles{10, 5, 9, 10, 10}},
	} {
		if got := measure.QuantilesOf(tt.in); got != tt.want {
			t.Errorf("QuantilesOf(%v) = %+v, want %+v", tt.in, got, tt.want)
		}
	}
	if ten[0] != 10*msec {
		t.Error("the list was changed")
	}
}

func TestTally(t *testing.T) {
	var tally measure.Tally
	if got := tally.Cell(); !reflect.DeepEqual(got, measure.Cell{}) {
		t.Errorf("an empty cell is %+v", got)
	}
	for _, name := range []string{"nobody", "crash", "pause", "the leader outlives"} {
		i := slices.IndexFunc(figureTests, func(f figureTest) bool { return strings.HasPrefix(f.name, name) })
		tally.Add(figureTests[i].run, measure.Of(figureTests[i].run))
	}
	want := measure.Cell{
		Mode: "single", Masters: 1, Fault: "crash", Guards: "off", Lab: "hand", Runs: 4, Kept: 1,
		Failover:      measure.Quantiles{2, 1010, 1610, 1610, 1610},
		Overshoot:     measure.Quantiles{2, 10, 10, 10, 10},
		Leaderless:    measure.Quantiles{4, 10, 3000, 3000, 3000},
		BeliefOverlap: measure.Quantiles{N: 4},
		ActOverlap:    measure.Quantiles{4, 0, 1490, 1490, 1490},
		ActWindow:     measure.Quantiles{1, 1490, 1490, 1490, 1490},

		StaleAttempted: 2, StaleAcceptedUnfenced: 2,
		Samples: measure.Samples{
			Failover:   []time.Duration{1010 * msec, 1610 * msec},
			Overshoot:  []time.Duration{10 * msec, 10 * msec},
			Leaderless: []time.Duration{0, 10 * msec, 30 * msec, 3000 * msec},
		},
	}
	if got := tally.Cell(); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestUpperBound(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want float64
	}{{0, 1}, {-1, 1}, {1, 0.95}, {2, 0.7764}, {100, 0.02951}, {300, 0.009936}, {2000, 0.0014967}} {
		if got := measure.UpperBound(tt.n); math.Abs(got-tt.want) > tt.want/1000 {
			t.Errorf("UpperBound(%d) = %v, want %v", tt.n, got, tt.want)
		}
	}
}

// TestLoad: an elector's load is counted over all runs that measured it.
func TestLoad(t *testing.T) {
	var tally measure.Tally
	for range 2 {
		run := figureTests[0].run
		run.Load = history.Load{Span: 10 * time.Second, Leader: 15, Standby: 20, Standbys: 2}
		tally.Add(run, measure.Of(run))
	}
	tally.Add(figureTests[0].run, measure.Of(figureTests[0].run))
	if got := tally.Cell().Load; got == nil || *got != (measure.Load{Leader: 1.5, Standby: 1}) {
		t.Errorf("load is %+v", got)
	}
}
