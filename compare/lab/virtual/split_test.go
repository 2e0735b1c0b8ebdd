package virtual_test

import (
	"testing"
	"time"

	"incumbent/compare/measure"
)

// TestOutageAndElection: the two are the failover, wherever the store was out and the leader
// was lost; and a quorum is never out.
func TestOutageAndElection(t *testing.T) {
	for _, tt := range []struct {
		fault       string
		least, most time.Duration // of an outage, against a TTL of 2 s
	}{
		{"hung-master", time.Second, 4 * time.Second},
		{"client-pause", 600 * time.Millisecond, 4 * time.Second},
		{"out-of-memory", 600 * time.Millisecond, 4 * time.Second},
		{"no-replicas", 600 * time.Millisecond, 4 * time.Second},
		{"read-only", 600 * time.Millisecond, 4 * time.Second},
		{"restart-empty", 0, 0}, {"restart-old", 0, 0}, {"restart-aof", 0, 0}, // which take no time here
	} {
		elected := 0
		for seed := range uint64(8) {
			s := spec(seed, "single", 1, tt.fault)
			f := measure.Of(play(t, s))
			if !f.StoreOut || f.Outage < tt.least || f.Outage > tt.most+time.Millisecond || f.FailedOver && !f.Elected {
				t.Errorf("%s: out %v, for %s, want from %s to %s; elected %v of %v", s, f.StoreOut, f.Outage, tt.least, tt.most, f.Elected, f.FailedOver)
			}
			if f.Elected {
				elected++
				if f.Outage+f.Election != f.Failover {
					t.Errorf("%s: %s and %s are not the failover, %s", s, f.Outage, f.Election, f.Failover)
				}
			}
		}
		if elected == 0 && tt.fault != "restart-aof" { // which a leader outlives
			t.Errorf("%s: the leader was never lost", tt.fault)
		}
		if s := spec(1, "quorum", 3, tt.fault); measure.Of(play(t, s)).StoreOut {
			t.Errorf("%s: a majority served, and the store was out", s)
		}
	}
	for _, name := range []string{"crash", "flushall", "master-crash", "master-partition", "failover"} {
		if s := spec(1, "single", 1, name); measure.Of(play(t, s)).StoreOut {
			t.Errorf("%s: the store was out", s)
		}
	}
}
