package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"incumbent/bench"
	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
)

// workerEnv makes this binary a child process that plays simulated runs.
const workerEnv = "INCUMBENT_BENCH_WORKER"

func TestMain(m *testing.M) {
	local.ChildMain()
	if os.Getenv(workerEnv) != "" {
		virtual.Worker(os.Stdin, os.Stdout)
	}
	logging.Disable() // its lines would stand between the results
	goleak.VerifyTestMain(ending{m})
}

// ending runs everything, and then ends the servers that were started.
type ending struct{ m *testing.M }

func (e ending) Run() int {
	code := e.m.Run()
	for _, s := range started {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// simulate plays b.N runs in the virtual lab.
func simulate(b *testing.B, masters int, fault string) []measure.Figures {
	b.Helper()
	specs := make([]virtual.Spec, b.N)
	for i := range specs {
		specs[i] = virtual.Spec{
			Seed: uint64(i) + 1, Mode: kind(masters), Masters: masters, Fault: fault, TTL: 2 * time.Second, Candidates: 3,
		}
	}
	pool := &virtual.Pool{Command: func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), workerEnv+"=1")
		return cmd
	}}
	var figures []measure.Figures
	err := pool.Play(context.Background(), specs, func(i int, run history.Run, err error) {
		if err != nil {
			b.Errorf("%v: %v", specs[i], err)
			return
		}
		figures = append(figures, check(b, run))
	})
	if err != nil {
		b.Fatal(err)
	}
	return figures
}

// strike loses leaders that are processes, on the servers that the user listed:
// for leases only, nothing is done to them.
func strike(b *testing.B, masters int, fault string) []measure.Figures {
	b.Helper()
	ctx := context.Background()
	name, addrs := electionName(), addresses(b, masters)
	for _, addr := range addrs {
		c := connect(b, addr)
		defer remove(b, c, name) // after the lab is closed
	}
	lab, err := local.Open(ctx, local.Options{
		Mode: kind(masters), Masters: masters, Servers: addrs, TTL: time.Second, Prefix: prefix, Election: name,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer lab.Close()
	var figures []measure.Figures
	for range b.N {
		run, err := lab.Run(ctx, fault)
		if err != nil {
			b.Fatal(err)
		}
		figures = append(figures, check(b, run))
	}
	return figures
}

// check measures a run, and fails the benchmark where it broke a rule.
func check(b *testing.B, run history.Run) measure.Figures {
	b.Helper()
	for _, v := range measure.Check(run) {
		b.Errorf("%s, %d masters, seed %d: %v", run.Fault, run.Masters, run.Seed, v)
	}
	return measure.Of(run)
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
