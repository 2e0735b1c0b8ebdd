package bench

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var sink []byte

// TestGarbage: nothing is collected of itself, but enough of it between blocks, and the
// settings of before come back.
func TestGarbage(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	g := holdGarbage()
	n := collections()
	for range 12 {
		sink = make([]byte, 1<<20)
		g.collect()
	}
	if got := collections(); got != n {
		t.Errorf("%d collections of little garbage", got-n)
	}
	for range 12 {
		sink = make([]byte, 1<<20)
	}
	if got := collections(); got != n {
		t.Errorf("%d collections of themselves", got-n)
	}
	g.collect()
	if got := collections(); got != n+1 {
		t.Errorf("%d collections of much garbage, want one", got-n)
	}
	g.release()
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("afterwards the percentage is %d, want 77", got)
	}
}
