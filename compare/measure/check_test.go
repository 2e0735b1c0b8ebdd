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
		found := measure.Check(run(6000, tt.plant(good())...))
		if !slices.ContainsFunc(found, func(v measure.Violation) bool {
			return v.Rule == tt.rule && strings.Contains(v.String(), tt.text)
		}) {
			t.Errorf("%s: no violation of %q with %q in %v", tt.name, tt.rule, tt.text, found)
		}
	}
}
