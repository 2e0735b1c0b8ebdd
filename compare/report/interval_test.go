package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestShareInterval checks against published values of Clopper and Pearson's interval.
func TestShareInterval(t *testing.T) {
	for _, tt := range []struct {
		k, n   int
		lo, hi float64
	}{
		{1, 10, 0.00253, 0.44502},
		{5, 10, 0.18709, 0.81291},
		{10, 10, 0.69150, 1},
		{3, 2000, 0.000309, 0.004378},
		{1411, 2000, 0.68500, 0.72542},
		{99_999, 100_000, 0.999944, 0.99999975},
	} {
		got := shareInterval(tt.k, tt.n)
		if math.Abs(got.lo-tt.lo) > 1e-4*math.Max(tt.lo, 0.1) || math.Abs(got.hi-tt.hi) > 1e-4*math.Max(tt.hi, 0.1) {
			t.Errorf("%d of %d: %.7f to %.7f, want %v to %v", tt.k, tt.n, got.lo, got.hi, tt.lo, tt.hi)
		}
	}
}

// TestQuantileIntervalCovers: of intervals of many samples about 95 % or more hold the
// true quantile, and few samples bound nothing from above.
func TestQuantileIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		q float64
		n int
	}{{0.5, 20}, {0.9, 100}, {0.99, 500}} {
		const trials = 2000
		held := 0
		for range trials {
			samples := make([]time.Duration, tt.n)
			for i := range samples {
				samples[i] = time.Duration(r.Int64N(int64(time.Second)))
			}
			slices.Sort(samples)
			if i := quantileInterval(samples, tt.q); i.lo <= 1000*tt.q && 1000*tt.q <= i.hi {
				held++
			}
		}
		if share := float64(held) / trials; share < 0.94 {
			t.Errorf("q=%v of %d: %v hold", tt.q, tt.n, share)
		}
	}
}

func TestQuantileIntervalOfFew(t *testing.T) {
	enough := enoughFor(0.99)
	if enough != 368 {
		t.Errorf("%d samples bound a 99th percentile, want 368", enough)
	}
	for _, n := range []int{0, 1, 5, enough - 1, enough} {
		samples := make([]time.Duration, n)
		if i := quantileInterval(samples, 0.99); math.IsInf(i.hi, 1) != (n < enough) {
			t.Errorf("%d samples: upper end %v", n, i.hi)
		}
		if i := medianInterval(samples); i.bounded() != (n >= 6) {
			t.Errorf("%d samples: interval of the median %v", n, i)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s", n, got)
		}
	}
	for v, want := range map[float64]string{0: "0.00 ms", 25.14: "25.1 ms", 99.97: "100 ms", 1974.4: "1,974 ms", -3: "-3.00 ms"} {
		if got := millis(v); got != want {
			t.Errorf("millis(%v) = %s, want %s", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 2 * time.Second: "2s", time.Minute: "1m", time.Hour: "1h", 90 * time.Minute: "1h30m", 1500 * time.Millisecond: "1.5s"} {
		if got := duration(d); got != want {
			t.Errorf("duration(%s) = %s, want %s", d, got, want)
		}
	}
}
