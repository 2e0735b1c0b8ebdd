package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"incumbent/compare/lab/remote"
	"incumbent/compare/report"
)

// TestRemote: what was measured at endpoints is in every form of the report, and what
// is not there leaves no trace.
func TestRemote(t *testing.T) {
	r := result()
	var without strings.Builder
	report.RemoteLines(&without, r.Remote)
	if without.Len() > 0 {
		t.Errorf("other labs: %q", without.String())
	}
	times := remote.Times{N: 200, Min: 0.1234, P50: 0.5678, P90: 1, P99: 2, Max: 30.25}
	r.Remote = &remote.Figures{
		RTT:     []remote.RTT{{Mode: "single", Master: "redis<b>.example:6379", Times: times}},
		Renewal: []remote.Renewal{{Mode: "single", Masters: 1, Times: times, Requests: 1, Sent: 241.4, Received: 43}},
		Floors:  remote.FloorPTTL,
	}
	for name, write := range map[string]func(*strings.Builder) error{
		"terminal": func(b *strings.Builder) error { report.RemoteLines(b, r.Remote); return nil },
		"HTML":     func(b *strings.Builder) error { return report.HTML(b, report.Report{Result: r}) },
		"Markdown": func(b *strings.Builder) error { return report.Markdown(b, report.Report{Result: r}) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{"0.123", "0.568", "30.2", "241", "PTTL at the masters"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, &b)
			}
		}
		if name != "terminal" && strings.Contains(b.String(), "<b>.example") {
			t.Errorf("%s takes a name for markup", name)
		}
	}
	var b strings.Builder
	var back struct{ Remote *remote.Figures }
	if err := report.Summary(&b, r, ""); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back.Remote == nil || back.Remote.RTT[0].P50 != 0.5678 {
		t.Errorf("summary: %v: %s", err, &b)
	}
}
