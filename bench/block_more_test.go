package bench

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimeBlock: the first tenth of a block warms up and is not timed, nor is what an
// operation leaves under way.
func TestTimeBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		o := &operation{
			do: func(context.Context) error {
				calls++
				time.Sleep(time.Millisecond)
				return nil
			},
			settle: func(context.Context) error {
				time.Sleep(time.Millisecond)
				return nil
			},
		}
		took, err := timeBlock(t.Context(), o, 200*time.Millisecond)
		if err != nil || calls != 100 || len(took) != 90 {
			t.Errorf("%d of %d calls are timed, %v; want 90 of 100", len(took), calls, err)
		}
		for _, d := range took {
			if d != time.Millisecond {
				t.Fatalf("one took %s, want 1ms", d)
			}
		}
	})
}

// TestBeyondUnknown: what could not be measured neither keeps a limit nor misses it.
func TestBeyondUnknown(t *testing.T) {
	show := func(float64) string { return "" }
	nan := math.NaN()
	for _, tt := range []struct {
		i     Interval
		noise float64
	}{
		{Interval{nan, 1, 1}, 0}, {Interval{nan, 9, 9}, 0}, {Interval{1, nan, 1}, 0}, {Interval{9, 9, nan}, 0}, {Interval{1, 1, 1}, nan},
	} {
		if got, _ := beyond(tt.i, 5, tt.noise, show); got != Inconclusive {
			t.Errorf("%+v, A/A %g: %s", tt.i, tt.noise, got)
		}
	}
}
