package measure

import (
	"math"
	"slices"
	"time"
)

// Quantiles sum up a list of durations in milliseconds. Each is a value that
// occurred: the smallest that at least that share of all does not exceed. All are
// 0 when N is.
type Quantiles struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// QuantilesOf sums up d, which it leaves as it is.
func QuantilesOf(d []time.Duration) Quantiles {
	if len(d) == 0 {
		return Quantiles{}
	}
	s := slices.Sorted(slices.Values(d))
	at := func(share float64) float64 {
		// The small amount keeps 0.9 * 10 from becoming the 10th of 10.
		rank := int(math.Ceil(share*float64(len(s)) - 1e-9))
		return milliseconds(s[max(rank, 1)-1])
	}
	return Quantiles{len(s), at(0.50), at(0.90), at(0.99), milliseconds(s[len(s)-1])}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
