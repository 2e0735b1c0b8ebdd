package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	times := []time.Duration{1e9, 2e9, 3e9, 4e9}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.9: 4, 0.99: 4, 1: 4} {
		if got := quantile(times, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if got := quantile([]time.Duration{0}, 0.5); got != 1e-9 {
		t.Errorf("a time of 0 is %g, want 1e-9: ratios divide by it", got)
	}
	if got := quantile([]float64{}, 0.5); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %g", got)
	}
}

// drawn is samples of an operation that takes around mid, slower by drift in some
// rounds, as a machine is.
func drawn(rng *rand.Rand, rounds int, mid time.Duration, drift []float64) *samples {
	s := &samples{}
	for k := range rounds {
		s.rounds = append(s.rounds, [twins][]time.Duration{})
		for twin := range twins {
			var took []time.Duration
			for range 50 {
				took = append(took, time.Duration(float64(mid)*drift[k]*math.Exp(rng.NormFloat64()/10)))
			}
			s.add(twin, took)
		}
	}
	return s
}

// TestRatio: the ratio to the floor is found although the machine gets slower by half in
// between, and A/A of what is identical covers 1 nearly always.
func TestRatio(t *testing.T) {
	const runs, rounds = 200, 20
	covers, covers1 := 0, 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var drift []float64
		for range rounds {
			drift = append(drift, 1+rng.Float64()/2)
		}
		r := &Result{Rounds: rounds, Ops: []Measurement{
			drawn(rng, rounds, 20*time.Microsecond, drift).sumUp(Op{Name: FloorRenew, Floor: FloorRenew}, Heap{}),
			drawn(rng, rounds, 50*time.Microsecond, drift).sumUp(Op{Name: OpRenew, Mode: "single", Floor: FloorRenew}, Heap{}),
		}}
		if err := r.relate(); err != nil {
			t.Fatal(err)
		}
		m := r.Op(OpRenew, "single")
		if m.XFloor.Lo <= 2.5 && m.XFloor.Hi >= 2.5 {
			covers++
		}
		if m.AA.Lo <= 1 && m.AA.Hi >= 1 {
			covers1++
		}
		if math.Abs(m.XFloor.Median-2.5) > 0.1 || m.Noise() > 0.05 || m.Spread > 0.2 || m.N != rounds*100 {
			t.Errorf("seed %d: %+v, noise %g, spread %g, n %d", seed, m.XFloor, m.Noise(), m.Spread, m.N)
		}
	}
	if covers < runs*90/100 || covers1 < runs*90/100 {
		t.Errorf("of %d intervals %d of x floor and %d of A/A have the truth in them, want at least 90 %%", runs, covers, covers1)
	}
}

func TestNoFloor(t *testing.T) {
	r := &Result{Ops: []Measurement{{Op: Op{Name: OpRenew, Floor: "sea"}}}}
	if err := r.relate(); err == nil {
		t.Error("an operation without its floor was related to something")
	}
}

// TestOrder: each round has each block once, a seed gives one order, rounds differ.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	one, two := order(rng, 22), order(rng, 22)
	if again := order(rand.New(rand.NewPCG(7, 0)), 22); !slices.Equal(one, again) {
		t.Error("one seed gave two orders")
	}
	if slices.Equal(one, two) {
		t.Error("two rounds have the same order")
	}
	seen := map[slot]bool{}
	for _, s := range one {
		seen[s] = true
	}
	if len(one) != 22*twins || len(seen) != len(one) {
		t.Errorf("%d blocks, %d of them different, want %d", len(one), len(seen), 22*twins)
	}
}
