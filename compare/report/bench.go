package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// Units of results.txt. No name contains "ns" or "MB", which readers of the format
// would convert; none of the values has a known distribution.
var units = []struct{ name, better string }{
	{"failover-sec", "lower"},
	{"overshoot-sec", "lower"},
	{"leaderless-sec", "lower"},
	{"belief-overlap-sec", "lower"},
	{"act-overlap-sec", "lower"},
	{"store-outage-sec", "lower"},
	{"election-after-outage-sec", "lower"},
	{"stale-attempted/run", "lower"},
	{"stale-accepted-unfenced/run", "lower"},
	{"stale-accepted-fenced/run", "lower"},
	{"leader-commands/s", "lower"},
	{"standby-commands/s", "lower"},
}

// benchHead writes what results.txt begins with. Conditions that are as usual are left
// out, so that files of all versions can be compared.
func benchHead(w io.Writer, p compare.Plan, lab, versions string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "pkg: incumbent/compare\nlab: %s\nttl: %s\ncandidates: %d\nseed: %d\nversions: %s\n",
		lab, p.TTL, p.Candidates, p.Seed, versions)
	if p.Renew > 0 {
		fmt.Fprintf(&b, "renew: %s\n", p.Renew)
	}
	if p.Link != "" {
		fmt.Fprintf(&b, "link: %s\n", p.Link)
	}
	if p.Loss > 0 {
		fmt.Fprintf(&b, "loss: %v\n", p.Loss)
	}
	if p.Drift > 0 {
		fmt.Fprintf(&b, "drift: %v\n", p.Drift)
	}
	for _, u := range units {
		fmt.Fprintf(&b, "Unit %s better=%s\nUnit %s assume=nothing\n", u.name, u.better, u.name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// benchLine writes one run. What did not happen in it is left out.
func benchLine(w io.Writer, run history.Run, f measure.Figures) error {
	var b strings.Builder
	mode := compare.Mode{Kind: run.Mode, Masters: run.Masters}
	fmt.Fprintf(&b, "BenchmarkCompare/mode=%s/fault=%s/guards=%s 1", mode, run.Fault, run.Guards)
	durations := []struct {
		d     time.Duration
		there bool
	}{
		{f.Failover, f.FailedOver}, {f.Overshoot, f.FailedOver}, {f.Leaderless, true}, {f.BeliefOverlap, true}, {f.ActOverlap, true},
		{f.Outage, f.StoreOut}, {f.Election, f.Elected},
	}
	for i, v := range durations {
		if v.there {
			fmt.Fprintf(&b, " %s %s", strconv.FormatFloat(v.d.Seconds(), 'f', -1, 64), units[i].name)
		}
	}
	for i, n := range []int{f.StaleAttempted, f.StaleAcceptedUnfenced, f.StaleAcceptedFenced} {
		fmt.Fprintf(&b, " %d %s", n, units[len(durations)+i].name)
	}
	if load := run.Load; load.Span > 0 {
		fmt.Fprintf(&b, " %.3f leader-commands/s", float64(load.Leader)/load.Span.Seconds())
		if load.Standbys > 0 {
			fmt.Fprintf(&b, " %.3f standby-commands/s", float64(load.Standby)/load.Span.Seconds()/float64(load.Standbys))
		}
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// benchEnd writes what results.txt ends with, as go test does: PASS if all of the plan
// was played, so that readers tell a file that was cut from a whole one, else FAIL.
func benchEnd(w io.Writer, complete bool) error {
	end := "FAIL\n"
	if complete {
		end = "PASS\n"
	}
	_, err := io.WriteString(w, end)
	return err
}
