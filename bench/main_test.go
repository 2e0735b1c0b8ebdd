package bench_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"incumbent/bench"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
)

// workerEnv makes this binary a child process that plays simulated runs.
const workerEnv = "INCUMBENT_BENCH_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		virtual.Worker(os.Stdin, os.Stdout)
	}
	logging.Disable() // its lines would stand between the results
	os.Exit(m.Run())
}

// simulate plays n runs in the virtual lab.
func simulate(b *testing.B, mode string, masters int, fault string, n int) []measure.Figures {
	b.Helper()
	kind := "quorum"
	if masters == 1 {
		kind = "single"
	}
	specs := make([]virtual.Spec, n)
	for i := range specs {
		specs[i] = virtual.Spec{
			Seed: uint64(i) + 1, Mode: kind, Masters: masters, Fault: fault, TTL: 2 * time.Second, Candidates: 3,
		}
	}
	pool := &virtual.Pool{Command: func() *exec.Cmd {
		cmd := exec.Command(os.Args[0]) //nolint:gosec // this binary
		cmd.Env = append(os.Environ(), workerEnv+"=1")
		return cmd
	}}
	var figures []measure.Figures
	err := pool.Play(context.Background(), specs, func(i int, run history.Run, err error) {
		if err != nil {
			b.Errorf("mode %s, seed %d: %v", mode, specs[i].Seed, err)
			return
		}
		for _, v := range measure.Check(run) {
			b.Errorf("mode %s, seed %d: %v", mode, specs[i].Seed, v)
		}
		figures = append(figures, measure.Of(run))
	})
	if err != nil {
		b.Fatal(err)
	}
	return figures
}

// median of seconds; the larger one of an even number.
func median(d []time.Duration) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)/2].Seconds()
}

// reportFailover reports the medians of runs that failed over, and fails if
// none did.
func reportFailover(b *testing.B, figures []measure.Figures) {
	b.Helper()
	var failover, overshoot []time.Duration
	for _, f := range figures {
		if f.FailedOver {
			failover, overshoot = append(failover, f.Failover), append(overshoot, f.Overshoot)
		}
	}
	if len(failover) == 0 {
		b.Fatal("no run failed over")
	}
	b.ReportMetric(median(failover), bench.UnitFailover)
	b.ReportMetric(median(overshoot), bench.UnitOvershoot)
}

// reportSplit reports what earlier leaders did after a later term began.
func reportSplit(b *testing.B, figures []measure.Figures) {
	b.Helper()
	var worst time.Duration
	var attempted, unfenced, fenced int
	for _, f := range figures {
		worst = max(worst, f.ActOverlap)
		attempted += f.StaleAttempted
		unfenced += f.StaleAcceptedUnfenced
		fenced += f.StaleAcceptedFenced
	}
	n := float64(max(len(figures), 1))
	b.ReportMetric(worst.Seconds(), bench.UnitOverlap)
	b.ReportMetric(float64(attempted)/n, bench.UnitStale)
	b.ReportMetric(float64(unfenced)/n, bench.UnitUnfenced)
	b.ReportMetric(float64(fenced)/n, bench.UnitFenced)
}
