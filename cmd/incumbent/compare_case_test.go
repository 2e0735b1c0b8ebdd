package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"incumbent/compare/measure"
	"incumbent/compare/report"
)

// B01: what a graceful stop takes and what a crash takes are figures of their own, with
// a TTL of 30 s and one standby: one is a matter of round trips, the other of the lease.
func TestB01_GracefulAndCrashAreApart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	const ttl = 30 * time.Second
	judge(t, "compare -q --faults resign,crash --modes single,quorum3 --runs 5 --candidates 2 --ttl 30s --out "+dir, exitOK,
		[]string{"crash failover", "hand-over p99"}, nil)
	text, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	var summary struct{ Cells []measure.Cell }
	if err := json.Unmarshal(text, &summary); err != nil || len(summary.Cells) != 4 {
		t.Fatalf("summary: %v: %s", err, text)
	}
	for _, c := range summary.Cells {
		least, most := 0.0, 100.0
		if c.Fault == "crash" {
			least, most = float64((ttl / 2).Milliseconds()), float64((ttl + time.Second).Milliseconds())
		}
		if f := c.Failover; f.N != 5 || f.P50 < least || f.Max > most {
			t.Errorf("%s, %d masters: %+v, want %v to %v ms", c.Fault, c.Masters, f, least, most)
		}
	}
}
