package tabulate

import (
	"math"
	"slices"
	"testing"
)

// TestManyTies: the cubes of millions of ties do not fit in an integer, and p would
// not be a number.
func TestManyTies(t *testing.T) {
	const n = 3_000_000
	zeros := make([]float64, n)
	half := slices.Clone(zeros)
	for i := n / 2; i < n; i++ {
		half[i] = 1
	}
	j := judge{better: -1}
	for _, tt := range []struct {
		old, now []float64
		want     Verdict
	}{{zeros, half, Worse}, {half, zeros, Better}, {half, half, Same}, {zeros, zeros, Same}} {
		var was, is Cell
		j.summarise(&was, tt.old)
		j.summarise(&is, tt.now)
		c := j.compare(tt.old, tt.now, &was, &is)
		if c.Verdict != tt.want || c.P != nil && (math.IsNaN(*c.P) || *c.P < 0) {
			t.Errorf("%v ones of %d, then %v: %+v", was.Mean*n, n, is.Mean*n, c)
		}
	}
}

// TestThin: what the U test sees has the distribution of the whole.
func TestThin(t *testing.T) {
	all := make([]float64, 7*compared)
	for i := range all {
		all[i] = float64(i)
	}
	few := thin(all)
	if len(few) != compared || few[0] != 3 || few[compared-1] != float64(len(all)-4) || !slices.IsSorted(few) {
		t.Errorf("%d values from %v to %v", len(few), few[0], few[len(few)-1])
	}
	if short := all[:compared]; len(thin(short)) != compared {
		t.Error("a sample that is short enough was thinned")
	}
}
