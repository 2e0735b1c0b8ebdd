package report

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/perf/benchmath"
)

// confidence of all intervals.
const confidence = 0.95

// An interval is where a value lies with 95 % confidence. An end that the number of
// samples does not bound is infinite.
type interval struct{ lo, hi float64 }

// bounded reports whether both ends are finite.
func (i interval) bounded() bool { return !math.IsInf(i.lo, 0) && !math.IsInf(i.hi, 0) }

// medianInterval is the interval of the median of ascending samples, in milliseconds.
func medianInterval(samples []time.Duration) interval {
	if len(samples) == 0 {
		return interval{math.Inf(-1), math.Inf(1)}
	}
	values := make([]float64, len(samples))
	for i, d := range samples {
		values[i] = milliseconds(d)
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), confidence)
	return interval{s.Lo, s.Hi}
}

// quantileInterval is the interval of the quantile q of ascending samples, in
// milliseconds, by order statistics: with r of n below the true quantile, where r is
// binomial, the l-th and the u-th sample enclose it when l <= r < u.
func quantileInterval(samples []time.Duration, q float64) interval {
	out := interval{math.Inf(-1), math.Inf(1)}
	const tail = (1 - confidence) / 2
	below := binomial(len(samples), q)
	sum := 0.0
	for r, p := range below {
		if sum += p; sum <= tail && r < len(samples) {
			out.lo = milliseconds(samples[r]) // P(fewer than r+1 below) is at most the tail
		}
		if sum >= 1-tail && r < len(samples) {
			out.hi = milliseconds(samples[r]) // the (r+1)-th
			break
		}
	}
	return out
}

// enoughFor is how many samples bound the quantile q from above.
func enoughFor(q float64) int {
	return int(math.Ceil(math.Log((1-confidence)/2) / math.Log(q)))
}

// binomial lists the probabilities of 0 to n successes among n trials.
func binomial(n int, p float64) []float64 {
	out := make([]float64, n+1)
	for k := range out {
		out[k] = math.Exp(logBinomial(k, n, p))
	}
	return out
}

// shareInterval is the exact interval of a share of which k of n runs showed it
// (Clopper and Pearson, 1934). k is from 1 to n.
func shareInterval(k, n int) interval {
	const tail = (1 - confidence) / 2
	out := interval{0, 1}
	out.lo = bisect(func(p float64) bool { return 1-atMost(k-1, n, p) < tail })
	if k < n {
		out.hi = bisect(func(p float64) bool { return atMost(k, n, p) > tail })
	}
	return out
}

// atMost is the probability of at most k successes among n trials.
func atMost(k, n int, p float64) float64 {
	switch {
	case p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	// The largest term comes first, so that what is left out for being too small is.
	from := min(k, int(float64(n)*p))
	odds := p / (1 - p)
	first := math.Exp(logBinomial(from, n, p))
	sum, term := first, first
	for i := from; i > 0 && term > sum*1e-17; i-- {
		term *= float64(i) / float64(n-i+1) / odds
		sum += term
	}
	term = first
	for i := from + 1; i <= k && term > sum*1e-17; i++ {
		term *= float64(n-i+1) / float64(i) * odds
		sum += term
	}
	return min(sum, 1)
}

// logBinomial is the logarithm of the probability of k successes among n trials.
func logBinomial(k, n int, p float64) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	some, _ := math.Lgamma(float64(k + 1))
	rest, _ := math.Lgamma(float64(n - k + 1))
	return all - some - rest + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
}

// bisect finds where low turns from true to false between 0 and 1.
func bisect(low func(p float64) bool) float64 {
	lo, hi := 0.0, 1.0
	for range 60 {
		if mid := (lo + hi) / 2; low(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// between writes an interval of milliseconds; "" where an end is missing.
func (i interval) between() string {
	if !i.bounded() {
		return ""
	}
	return fmt.Sprintf("%s to %s", number(i.lo), millis(i.hi))
}
