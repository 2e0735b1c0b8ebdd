package bench

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// fileUnits are the units of a file of benchmark results besides those of testing.
// Counts are exact.
var fileUnits = []struct {
	name  string
	exact bool
}{
	{UnitP50, false}, {UnitP90, false}, {UnitP99, false}, {UnitFloor, false},
	{UnitCommands, true}, {UnitReceived, true}, {UnitSent, true},
}

// WriteBench writes a result in Go's benchmark format, as benchstat and "incumbent
// report" read it: one line for each operation and round. versions says in one line
// what was measured with, besides the server.
func (r *Result) WriteBench(w io.Writer, versions string) error {
	b := bufio.NewWriter(w) // keeps the first error
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\npkg: incumbent/bench\n", runtime.GOOS, runtime.GOARCH)
	if model := cpuModel(); model != "" {
		fmt.Fprintf(b, "cpu: %s\n", model)
	}
	fmt.Fprintf(b, "seed: %d\nversions: %s, %s\n", r.Seed, versions, r.Server)
	for _, u := range fileUnits {
		assume := "nothing"
		if u.exact {
			assume = "exact"
		}
		fmt.Fprintf(b, "Unit %s better=lower assume=%s\n", u.name, assume)
	}
	for k := range r.Rounds {
		for i := range r.Ops {
			r.Ops[i].line(b, k, r.CPUs)
		}
	}
	fmt.Fprintln(b, "PASS")
	return b.Flush()
}

// line writes what one round measured of an operation.
func (m *Measurement) line(b *bufio.Writer, k, cpus int) {
	round, c := m.Rounds[k], m.Counts
	name := m.benchName()
	if cpus > 1 {
		name += fmt.Sprintf("-%d", cpus)
	}
	fmt.Fprintf(b, "%s %d %.1f ns/op %.4g %s %.4g %s %.4g %s %.4g %s %d B/op %d allocs/op %g %s %g %s %g %s\n",
		name, round.N, round.Mean*1e9, round.P50, UnitP50, round.P90, UnitP90, round.P99, UnitP99, round.XFloor, UnitFloor,
		m.Heap.Bytes, m.Heap.Allocs, c.Commands(), UnitCommands, c.ReceivedBytes, UnitReceived, c.SentBytes, UnitSent)
}

// benchName is the operation's name as benchmarks have them: what they do in upper
// case, and what keeps them apart as key=value.
func (o Op) benchName() string {
	word := map[string]string{OpAcquire: "Acquire", OpRenew: "Renew", OpRelease: "Release", OpCycle: "AcquireRelease"}[o.Name]
	switch {
	case o.Mode == "":
		return "BenchmarkFloor/op=" + o.Name
	case strings.HasPrefix(o.Mode, "redsync"):
		return fmt.Sprintf("BenchmarkRedsync%s/masters=%d", word, o.Masters)
	}
	return fmt.Sprintf("Benchmark%s/mode=%s", word, o.Mode)
}
