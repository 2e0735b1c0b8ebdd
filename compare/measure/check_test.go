package measure_test

import (
	"slices"
	"strings"
	"testing"

	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// good is a history in which all rules are kept: a is paused, b takes over, and
// a's stale act is refused.
func good() []history.Event {
	return []history.Event{
		started(0, "a", 10, 2000), checked(1, "a", 10), acted(2, "a", 10, true), renewed(600, "a", 10, 2600),
		checked(1000, "a", 10), struck(1000, "a", 1620),
		stopping(2400, "a", 10), ended(2600, "a", 10),
		started(2630, "b", 11, 4600), checked(2630, "b", 11), acted(2631, "b", 11, true), renewed(3200, "b", 11, 5200),
		acted(4000, "a", 10, false),
		stopping(4500, "b", 11), ended(4500, "b", 11),
		started(4510, "a", 12, 6500),
	}
}

func TestCheckFindsNothing(t *testing.T) {
	if v := measure.Check(run(6000, good()...)); len(v) > 0 {
		t.Errorf("found %v", v)
	}
	if v := measure.Check(run(100)); len(v) > 0 {
		t.Errorf("an empty history: %v", v)
	}
}

// TestCheckFinds plants one breakage a time into the good history.
func TestCheckFinds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(e []history.Event) []history.Event
		rule  string
		text  string
	}{
		{"token goes back", func(e []history.Event) []history.Event {
			return append(e, ended(5000, "a", 12), started(5001, "b", 5, 6000))
		}, measure.TokenOrder, "token 5 after 12 of a"},
		{"token is used twice", func(e []history.Event) []history.Event {
			return append(e, ended(5000, "a", 12), started(5001, "b", 12, 6000))
		}, measure.TokenShared, "token 12 belongs to an earlier term"},
		{"token 0", func(e []history.Event) []history.Event {
			return append(e, ended(5000, "a", 12), started(5001, "b", 0, 6000))
		}, measure.TokenShared, "token 0"},
		{"two lead", func(e []history.Event) []history.Event {
			return append(e, started(5000, "c", 13, 7000))
		}, measure.BeliefOverlap, "token 13 is valid while a is for another 1s"},
		{"the fence takes a stale act", func(e []history.Event) []history.Event {
			return append(e, acted(4001, "a", 10, true))
		}, measure.FenceHolds, "token 10 was taken 1.371s after term 11 of b began"},
		{"a stale act", func(e []history.Event) []history.Event {
			return append(e, acted(4001, "a", 10, false))
		}, measure.ActOverlap, "an act under token 10 arrived 1.371s after term 11 of b began"},
		{"renewed after the deadline", func(e []history.Event) []history.Event {
			return append(e, started(4400, "c", 9, 4450), renewed(4460, "c", 9, 6000))
		}, measure.RenewalLate, "renewed 10ms after its deadline"},
		{"renewed after the end", func(e []history.Event) []history.Event {
			return append(e, renewed(2610, "a", 10, 4000))
		}, measure.RenewalLate, "after its end"},
		{"renewed after a later term began", func(e []history.Event) []history.Event {
			return append(e, started(4515, "c", 13, 9000), renewed(4600, "a", 12, 7000))
		}, measure.RenewalLate, "renewed 85ms after term 13 of c"},
		{"a second start", func(e []history.Event) []history.Event {
			return append(e, started(4600, "a", 14, 7000))
		}, measure.EventOrder, "term 14 starts before term 12 has ended"},
		{"stops twice", func(e []history.Event) []history.Event {
			return append(e, stopping(4600, "a", 12), stopping(4700, "a", 12))
		}, measure.EventOrder, "stops again"},
		{"ends twice", func(e []history.Event) []history.Event {
			return append(e, ended(4600, "a", 12), ended(4700, "a", 12))
		}, measure.EventOrder, "ends again"},
		{"ends without a start", func(e []history.Event) []history.Event {
			return append(e, ended(4600, "z", 12))
		}, measure.EventOrder, "not its latest"},
		{"valid after the end", func(e []history.Event) []history.Event {
			return append(e, checked(2601, "a", 10))
		}, measure.ActWithoutTerm, "Valid was true for term 10 after its end"},
		{"valid from the deadline on", func(e []history.Event) []history.Event {
			return append(e, started(4400, "c", 9, 4450), checked(4450, "c", 9))
		}, measure.ActWithoutTerm, "Valid was true for term 9"},
		{"valid without a term", func(e []history.Event) []history.Event {
			return append(e, checked(100, "c", 10))
		}, measure.ActWithoutTerm, "not its latest"},
		{"acts without a term", func(e []history.Event) []history.Event {
			return append(e, acted(100, "c", 10, true))
		}, measure.ActWithoutTerm, "under token 10, which it never had"},
	} {
		planted := run(6000, tt.plant(good())...)
		if tt.rule == measure.ActOverlap {
			planted.Fault, planted.Lab = "crash", history.Virtual
		}
		found := measure.Check(planted)
		if !slices.ContainsFunc(found, func(v measure.Violation) bool {
			return v.Rule == tt.rule && strings.Contains(v.String(), tt.text)
		}) {
			t.Errorf("%s: no violation of %q with %q in %v", tt.name, tt.rule, tt.text, found)
		}
	}
}

// TestTokensPromised: they are made of a record and a clock, and may go back where both
// are lost.
func TestTokensPromised(t *testing.T) {
	for _, tt := range []struct {
		steps []string
		want  bool
	}{
		{[]string{"clock-back", "crash"}, true},
		{[]string{"restart-old", "failover-twice"}, true},
		{[]string{"clock-back", "failover"}, false},
		{[]string{"flushall", "pause", "clock-jump"}, false},
		{nil, true},
	} {
		run := history.Run{Fault: "random", Guards: "on", Lab: history.Virtual, Masters: 1, Steps: tt.steps, Events: []history.Event{
			{At: 1, Actor: "a", Kind: history.TermStarted, Token: 9}, {At: 2, Actor: "a", N: 1, Kind: history.TermEnded, Token: 9},
			{At: 3, Actor: "b", Kind: history.TermStarted, Token: 5},
		}}
		broken := slices.ContainsFunc(measure.Check(run), func(v measure.Violation) bool { return v.Rule == measure.TokenOrder })
		if promised := measure.Promises(run).Tokens; promised != tt.want || broken != tt.want {
			t.Errorf("%v: promised is %v, broken %v, want %v", tt.steps, promised, broken, tt.want)
		}
	}
}

// TestPromises: what is a broken rule in one kind of run is what another one measures.
func TestPromises(t *testing.T) {
	split := []history.Event{
		started(0, "a", 10, 2000), acted(1, "a", 10, true), struck(500, "m", 1500),
		started(600, "b", 11, 2600), acted(601, "b", 11, true), acted(700, "a", 10, false), renewed(800, "a", 10, 2800),
		ended(2600, "b", 11), ended(2800, "a", 10),
	}
	for _, tt := range []struct {
		fault, guards, lab string
		belief, acts       bool
		steps              []string
	}{
		{"crash", "on", "virtual", true, true, nil},
		{"crash", "off", "virtual", true, true, nil},
		{"crash", "on", "local", true, false, nil},
		{"pause-write", "on", "virtual", true, false, nil},
		{"master-crash", "off", "virtual", true, true, nil},
		{"flushall", "on", "virtual", true, true, nil},
		{"flushall", "off", "virtual", false, false, nil},
		{"old-primary", "on", "virtual", false, false, nil},
		{"old-primary", "off", "virtual", false, false, nil},
		{"unheard-of", "off", "virtual", true, true, nil},
		{"random", "on", "virtual", true, false, nil},
		{"random", "off", "virtual", false, false, nil},
		{"random", "on", "virtual", true, true, []string{"crash", "flushall"}},
		{"random", "off", "virtual", true, true, []string{"crash", "hung-master"}},
		{"random", "on", "virtual", true, false, []string{"flushall", "pause"}},
		{"mine", "on", "virtual", false, false, []string{"crash", "old-primary"}},
	} {
		r := run(2800, split...)
		r.Fault, r.Guards, r.Lab, r.Steps = tt.fault, tt.guards, tt.lab, tt.steps
		if got := measure.Promises(r); got.Belief != tt.belief || got.Acts != tt.acts {
			t.Errorf("%+v promises %+v", tt, got)
		}
		var rules, want []string
		for _, v := range measure.Check(r) {
			rules = append(rules, v.Rule)
		}
		if tt.belief {
			want = append(want, measure.BeliefOverlap)
		}
		if tt.acts {
			want = append(want, measure.ActOverlap)
		}
		if tt.belief {
			want = append(want, measure.RenewalLate)
		}
		if !slices.Equal(rules, want) {
			t.Errorf("%+v: broken are %q, want %q", tt, rules, want)
		}
	}
}

// TestLeaderInTheEnd: somebody must lead, unless too much is gone for good.
func TestLeaderInTheEnd(t *testing.T) {
	events := []history.Event{
		started(0, "a", 10, 2000), struck(500, "a", 1500), ended(2000, "a", 10), started(2500, "b", 11, 4500), ended(4500, "b", 11),
	}
	for _, tt := range []struct {
		name, lab           string
		masters, candidates int
		steps               []string
		length              int
		broken              bool
	}{
		{"crash", "virtual", 1, 3, nil, 4600, true},
		{"crash", "virtual", 1, 3, nil, 4500, false},
		{"crash", "local", 1, 3, nil, 4600, true},
		{"crash", "remote", 1, 3, nil, 4600, false},
		{"crash", "virtual", 1, 1, nil, 4600, false},
		{"crash", "virtual", 1, 0, nil, 4600, true},
		{"master-crash", "virtual", 1, 3, nil, 4600, false},
		{"master-crash", "virtual", 3, 3, nil, 4600, true},
		{"mine", "virtual", 3, 3, []string{"master-crash", "master-crash"}, 4600, false},
		{"mine", "virtual", 5, 3, []string{"master-crash", "master-crash", "crash"}, 4600, true},
		{"mine", "virtual", 5, 3, []string{"crash", "clock-back", "script-flush"}, 4600, false},
	} {
		r := run(tt.length, events...)
		r.Fault, r.Lab, r.Masters, r.Candidates, r.Steps = tt.name, tt.lab, tt.masters, tt.candidates, tt.steps
		found := measure.Check(r)
		want := 0
		if tt.broken {
			want = 1
		}
		if len(found) != want || want > 0 && (found[0].Rule != measure.LeaderInTheEnd || found[0].String() != "somebody leads in the end: b at 4.6s: no term has been valid for 100ms") {
			t.Errorf("%+v: found %v", tt, found)
		}
	}
	nobody := run(1000)
	nobody.Lab, nobody.Masters = "virtual", 1
	if found := measure.Check(nobody); len(found) != 1 || found[0].Actor != "nobody" {
		t.Errorf("an empty history: %v", found)
	}
}

// TestStrictEverywhere: no guard and no fault excuses these.
func TestStrictEverywhere(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		events []history.Event
	}{
		{measure.TokenOrder, []history.Event{started(0, "a", 10, 2000), ended(100, "a", 10), started(200, "b", 9, 2000)}},
		{measure.TokenShared, []history.Event{started(0, "a", 10, 2000), ended(100, "a", 10), started(200, "b", 10, 2000)}},
		{measure.RenewalLate, []history.Event{started(0, "a", 10, 200), renewed(200, "a", 10, 400)}},
		{measure.FenceHolds, []history.Event{started(0, "a", 10, 2000), started(100, "b", 11, 2000), acted(101, "b", 11, true), acted(102, "a", 10, true)}},
		{measure.ActWithoutTerm, []history.Event{started(0, "a", 10, 200), checked(200, "a", 10)}},
		{measure.EventOrder, []history.Event{started(0, "a", 10, 200), started(100, "a", 11, 400)}},
	} {
		for _, name := range []string{"old-primary", "flushall"} {
			r := run(3000, tt.events...)
			r.Fault, r.Guards = name, "off"
			if found := measure.Check(r); len(found) != 1 || found[0].Rule != tt.rule {
				t.Errorf("%s: found %v, want %q", name, found, tt.rule)
			}
		}
	}
}
