package metrics

import (
	"slices"
	"testing"
	"time"
)

// Buckets begin below a fast network, end with the TTL, grow, and have a border at half
// of a try's time-out and at the time-out.
func TestBuckets(t *testing.T) {
	for _, ttl := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Second, 7 * time.Second, 15 * time.Second, time.Hour} {
		o := Options{TTL: ttl}.withDefaults()
		b := o.renewBuckets()
		s := ttl.Seconds()
		if !slices.IsSorted(b) || len(slices.Compact(slices.Clone(b))) != len(b) {
			t.Errorf("%s: %v do not grow", ttl, b)
		}
		if b[0] != 0.0005 || b[len(b)-1] != s || !slices.Contains(b, s/8) || !slices.Contains(b, s/4) {
			t.Errorf("%s: %v", ttl, b)
		}
		if len(b) > 25 {
			t.Errorf("%s: %d buckets", ttl, len(b))
		}
	}
}
