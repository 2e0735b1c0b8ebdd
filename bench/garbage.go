package bench

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// garbage keeps the collector out of blocks: it runs between them, when enough has come
// together. A collection before each block would take longer than the block.
type garbage struct {
	base    uint64 // bytes of the heap after the last collection
	percent int
	limit   int64
	sample  [1]metrics.Sample
}

const (
	garbageBlock = 16 << 20  // that may come together before it is collected
	garbageLimit = 512 << 20 // from which on it is collected within a block as well
)

// holdGarbage switches automatic collection off. Call release at the end.
func holdGarbage() *garbage {
	g := &garbage{percent: debug.SetGCPercent(-1), limit: debug.SetMemoryLimit(garbageLimit)}
	g.sample[0].Name = "/memory/classes/heap/objects:bytes"
	runtime.GC()
	g.base = g.heap()
	return g
}

func (g *garbage) heap() uint64 {
	metrics.Read(g.sample[:])
	return g.sample[0].Value.Uint64()
}

// collect collects if there is enough. Call it between blocks.
func (g *garbage) collect() {
	if g.heap() < g.base+garbageBlock {
		return
	}
	runtime.GC()
	g.base = g.heap()
}

// release switches automatic collection on again.
func (g *garbage) release() {
	debug.SetGCPercent(g.percent)
	debug.SetMemoryLimit(g.limit)
}
