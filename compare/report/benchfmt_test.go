package report_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"incumbent/compare/measure"
	"incumbent/compare/report"
)

// TestResultsAreReadable reads results.txt as benchstat does.
func TestResultsAreReadable(t *testing.T) {
	files := benchfmt.Files{Paths: []string{filepath.Join(write(t), report.ResultsFile)}}
	values := map[string]float64{}
	results := 0
	for files.Scan() {
		switch rec := files.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("syntax error: %v", rec)
		case *benchfmt.Result:
			results++
			if got := string(rec.Name); got != "Compare/mode=quorum3/fault=pause-write/guards=off" {
				t.Errorf("name is %q", got)
			}
			if results == 1 {
				for _, v := range rec.Values {
					values[v.Unit] = v.Value
				}
			} else if _, ok := rec.Value("failover-sec"); ok {
				t.Error("a run without a successor has a failover")
			}
			if got := rec.GetConfig("lab"); got != "virtual" {
				t.Errorf("lab is %q", got)
			}
		}
	}
	if err := files.Err(); err != nil || results != 2 {
		t.Fatalf("%d results, error %v", results, err)
	}
	for unit, want := range map[string]float64{
		"failover-sec": 1.001, "overshoot-sec": 0.101, "leaderless-sec": 0.001, "belief-overlap-sec": 0, "act-overlap-sec": 0.999,
		"stale-attempted/run": 1, "stale-accepted-unfenced/run": 1, "stale-accepted-fenced/run": 0,
	} {
		if got, ok := values[unit]; !ok || got != want {
			t.Errorf("%s is %v, want %v", unit, got, want)
		}
		if m := files.Units()[benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}]; m == nil || m.Value != "lower" {
			t.Errorf("%s: better is %v", unit, m)
		}
	}
	if len(values) != 8 {
		t.Errorf("values are %v", values)
	}
}

// TestOutageUnits: an outage and the election after it stand only where they were.
func TestOutageUnits(t *testing.T) {
	for _, tt := range []struct {
		f    measure.Figures
		want string
	}{
		{measure.Figures{FailedOver: true, Failover: 2 * time.Second}, ""},
		{measure.Figures{StoreOut: true, Outage: 1500 * msec, Kept: true}, " 1.5 store-outage-sec"},
		{
			measure.Figures{FailedOver: true, Failover: 2 * time.Second, StoreOut: true, Elected: true, Election: 2 * time.Second},
			" 0 store-outage-sec 2 election-after-outage-sec",
		},
	} {
		path := t.TempDir()
		d := create(t, path)
		if err := errors.Join(d.Add(runs()[0], tt.f), d.Commit(report.Report{Result: result()})); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(path, report.ResultsFile))
		if want := "act-overlap-sec" + tt.want + " 0 stale-attempted/run"; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("want %q in %s, %v", want, text, err)
		}
	}
}
