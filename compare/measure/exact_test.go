package measure_test

import (
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// TestExact: with a TTL of 2 s a deadline is at most 1978 ms after the request, and the
// work is told 200 ms before it.
func TestExact(t *testing.T) {
	const (
		sent     = measure.DeadlineFromSent
		late     = measure.RenewalSentLate
		stepDown = measure.StepDownKept
	)
	// Of b, which leads from 500 on while a may still renew.
	rival := []history.Event{started(500, "b", 11, 2477)}
	for _, tt := range []struct {
		name, fault, guards, lab string
		steps                    []string
		events                   []history.Event
		want                     string // the rule that is broken
	}{
		{"a deadline from before the request", "crash", "on", "virtual", nil, []history.Event{started(1, "a", 10, 1978)}, ""},
		{"a deadline from the answer", "crash", "on", "virtual", nil, []history.Event{started(1, "a", 10, 1979)}, sent},
		{"the same in real time", "crash", "on", "local", nil, []history.Event{started(1, "a", 10, 1979)}, ""},
		{"a renewal from before the request", "crash", "on", "virtual", nil,
			[]history.Event{started(1, "a", 10, 1978), renewed(600, "a", 10, 2577)}, ""},
		{"a renewal from its answer", "crash", "on", "virtual", nil,
			[]history.Event{started(1, "a", 10, 1978), renewed(600, "a", 10, 2578)}, sent},
		{"sent before the rival began", "del", "off", "virtual", nil,
			append(rival, started(1, "a", 10, 1978), renewed(510, "a", 10, 2478)), ""},
		{"sent after the rival began", "del", "off", "virtual", nil,
			append(rival, started(1, "a", 10, 1978), renewed(510, "a", 10, 2479)), late},
		{"two primaries in one place", "old-primary", "off", "virtual", nil,
			append(rival, started(1, "a", 10, 1978), renewed(510, "a", 10, 2479)), ""},
		{"several faults without guards", "random", "off", "virtual", []string{"flushall", "restart-old"},
			append(rival, started(1, "a", 10, 1978), renewed(510, "a", 10, 2479)), ""},
		{"told in time", "crash", "on", "virtual", nil,
			[]history.Event{started(1, "a", 10, 1978), stopping(1779, "a", 10), ended(1978, "a", 10)}, ""},
		{"told too late", "crash", "on", "virtual", nil,
			[]history.Event{started(1, "a", 10, 1978), stopping(1780, "a", 10), ended(1978, "a", 10)}, stepDown},
		{"given back early", "crash", "on", "virtual", nil,
			[]history.Event{started(1, "a", 10, 1978), stopping(1900, "a", 10), ended(1901, "a", 10)}, ""},
		{"frozen meanwhile", "pause", "on", "virtual", nil,
			[]history.Event{started(1, "a", 10, 1978), stopping(1978, "a", 10), ended(1978, "a", 10)}, ""},
	} {
		r := run(2500, tt.events...)
		r.TTL, r.Fault, r.Guards, r.Lab, r.Steps = 2*time.Second, tt.fault, tt.guards, tt.lab, tt.steps
		var found []string
		for _, v := range measure.Check(r) {
			if v.Rule == sent || v.Rule == late || v.Rule == stepDown {
				found = append(found, v.Rule)
			}
		}
		if len(found) != min(len(tt.want), 1) || len(found) > 0 && found[0] != tt.want {
			t.Errorf("%s: found %q, want %q", tt.name, found, tt.want)
		}
	}
}
