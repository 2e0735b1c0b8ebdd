//go:build unix

package virtual_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
)

// BenchmarkFailovers plays crashes of a leader in one worker process, with scripts
// that are answered natively and in Lua. Of a core's time all is counted that the
// worker and its parent have used.
func BenchmarkFailovers(b *testing.B) {
	for _, m := range modes {
		for _, scripts := range []string{"native", "lua"} {
			b.Run(fmt.Sprintf("masters=%d/scripts=%s", m.masters, scripts), func(b *testing.B) {
				var list []virtual.Spec
				for seed := range b.N {
					list = append(list, spec(uint64(seed), m.mode, m.masters, "crash"))
				}
				before := cpuTime(b)
				if err := pool(1, scripts).Play(b.Context(), list, func(_ int, _ history.Run, err error) {
					if err != nil {
						b.Error(err)
					}
				}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "worlds/s")
				b.ReportMetric(float64(b.N)/(cpuTime(b)-before).Seconds(), "failovers/s/core")
			})
		}
	}
}

// cpuTime is what this process and those of its children that have ended have used.
func cpuTime(b *testing.B) (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return sum
}
