package bench

import (
	"math"
	"slices"
	"time"

	"golang.org/x/perf/benchmath"
)

// samples are the times of one operation.
type samples struct{ rounds [][twins][]time.Duration }

// add adds a block to the last round.
func (s *samples) add(twin int, took []time.Duration) { s.rounds[len(s.rounds)-1][twin] = took }

// sumUp makes a measurement of all rounds.
func (s *samples) sumUp(o Op, h Heap) Measurement {
	m := Measurement{Op: o, Heap: h}
	var everything []time.Duration
	var medians, aa, apart []float64
	for _, blocks := range s.rounds {
		r, both := roundOf(blocks)
		m.Rounds = append(m.Rounds, r)
		everything = append(everything, both...)
		medians, aa = append(medians, r.P50), append(aa, r.AA)
		apart = append(apart, math.Exp(math.Abs(math.Log(r.AA)))-1)
	}
	slices.Sort(everything)
	m.N = len(everything)
	m.P50, m.P90, m.P99, m.Mean = quantile(everything, 0.5), quantile(everything, 0.9), quantile(everything, 0.99), meanOf(everything)
	m.Time, m.AA = interval(medians), interval(aa)
	slices.Sort(apart)
	m.Spread = quantile(apart, 0.95)
	return m
}

// roundOf sums up two blocks, and returns their times in order.
func roundOf(blocks [twins][]time.Duration) (Round, []time.Duration) {
	var medians [twins]float64
	for i := range blocks {
		slices.Sort(blocks[i])
		medians[i] = quantile(blocks[i], 0.5)
	}
	both := slices.Concat(blocks[:]...)
	slices.Sort(both)
	return Round{
		N: len(both), Mean: meanOf(both), P50: math.Sqrt(medians[0] * medians[1]),
		P90: quantile(both, 0.9), P99: quantile(both, 0.99), AA: medians[0] / medians[1],
	}, both
}

// quantile is the q-th part of sorted values, the upper of two that are equally near: of
// times in seconds, and never 0, so that it can be divided by.
func quantile[T ~int64 | ~float64](sorted []T, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	v := sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
	if d, ok := any(v).(time.Duration); ok {
		return max(d, 1).Seconds()
	}
	return float64(v)
}

func meanOf(times []time.Duration) float64 {
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	return sum.Seconds() / float64(max(len(times), 1))
}

// confidence of intervals.
const confidence = 0.95

// interval is the median of values and where it lies. It assumes nothing but that they
// were drawn alike; it takes MinRounds values.
func interval(values []float64) Interval {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
	return Interval{s.Center, s.Lo, s.Hi}
}

// Noise is by what factor less 1 two identical operations came out apart over the whole
// run: the farther end of the interval of A/A'.
func (m *Measurement) Noise() float64 {
	return math.Exp(max(math.Abs(math.Log(m.AA.Lo)), math.Abs(math.Log(m.AA.Hi)))) - 1
}
