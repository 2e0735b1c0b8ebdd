package report

import (
	"strings"
	"testing"
	"time"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/measure"
)

// TestExpectedFailover: where the worst that was seen keeps to the SLO and is called
// missed all the same, the row says why; and it is not the figure of an advised TTL.
func TestExpectedFailover(t *testing.T) {
	mode := compare.Mode{Kind: "single", Masters: 1}
	cells := []measure.Cell{{
		Mode: "single", Masters: 1, Fault: crashFault, Guards: "on", Runs: 30,
		Failover: measure.Quantiles{N: 30, P50: 1800, Max: 1975},
	}}
	missed := []decide.Check{{Key: decide.Failover, State: decide.Missed, Value: "2.01s"}}
	met := []decide.Check{{Key: decide.Failover, State: decide.Met, Value: "2.01s"}}
	lost := []measure.Cell{cells[0]}
	lost[0].Runs = 31
	for name, tt := range map[string]struct {
		cells  []measure.Cell
		limit  time.Duration
		option decide.Option
		want   string
	}{
		"missed, another TTL is advised": {cells, 2 * time.Second, decide.Option{Checks: missed, Advice: &decide.Advice{}, Failover: 1705 * time.Millisecond}, "to be expected: up to 2.01s"},
		"missed, none is advised":        {cells, 2 * time.Second, decide.Option{Checks: missed, Failover: 2005 * time.Millisecond}, "to be expected: up to 2,005 ms"},
		"met":                            {cells, 3 * time.Second, decide.Option{Checks: met, Fits: true, Failover: 2005 * time.Millisecond}, "to be expected: up to 2,005 ms"},
		"met, and something else missed": {cells, 3 * time.Second, decide.Option{Checks: met, Advice: &decide.Advice{}, Failover: 5 * time.Second}, ""},
		"longer than the limit":          {cells, time.Second, decide.Option{Checks: missed, Failover: 2005 * time.Millisecond}, ""},
		"nobody followed once":           {lost, 2 * time.Second, decide.Option{Checks: missed, Failover: 2005 * time.Millisecond}, ""},
	} {
		tt.option.Mode = mode
		d := &decide.Decision{SLO: decide.SLO{Failover: decide.Limit[time.Duration]{Set: true, Max: tt.limit}}, Options: []decide.Option{tt.option}}
		note := crashRow(d, mode, tt.cells).Note
		if tt.want == "" && strings.Contains(note, "expected") || !strings.Contains(note, tt.want) {
			t.Errorf("%s: the note is %q, want %q", name, note, tt.want)
		}
	}
}
