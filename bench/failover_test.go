package bench_test

import (
	"testing"

	"incumbent/compare/measure"
)

// BenchmarkFailover measures how long nobody leads after a leader is gone: one
// that resigns, and one that crashes. An operation is one failover. Without
// real servers it is simulated, and the times are virtual.
func BenchmarkFailover(b *testing.B) {
	for _, fault := range []string{"resign", "crash"} {
		for _, m := range modes(b) {
			b.Run("fault="+fault+"/mode="+m.Name, func(b *testing.B) {
				reportFailover(b, lose(b, m.Masters, fault))
			})
		}
	}
}

// BenchmarkSplitBrain measures what no elector can prevent: a leader that is
// paused between its check and its act for longer than the lease. An operation
// is one such pause.
func BenchmarkSplitBrain(b *testing.B) {
	for _, m := range modes(b) {
		b.Run("mode="+m.Name, func(b *testing.B) {
			reportSplit(b, lose(b, m.Masters, "pause-write"))
		})
	}
}

// lose loses a leader b.N times.
func lose(b *testing.B, masters int, fault string) []measure.Figures {
	b.Helper()
	b.ReportMetric(0, "ns/op") // what playing costs is not what is measured
	if !onReal() {
		return simulate(b, masters, fault)
	}
	return strike(b, masters, fault)
}

// kind is the mode's name in a lab.
func kind(masters int) string {
	if masters == 1 {
		return "single"
	}
	return "quorum"
}
