package virtual

import (
	"os"
	"runtime"
	"runtime/debug"
)

// tune prepares a worker process for what it does: it plays hundreds of small
// worlds, each of which starts thousands of goroutines that end soon. No history
// depends on it.
func tune() {
	// What a world leaves behind is cheap to keep for a while, and costly to look
	// through; up to a point.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(512 << 20)
	}
	enlargeStacks()
}

const (
	sleepers = 512
	depth    = 60 // of their calls; together about 18 KiB
)

// enlargeStacks makes new goroutines begin with a larger stack. A fifth of all time
// went into growing them, since each request to a master has a goroutine of its own,
// which goes deep into the client. The runtime starts goroutines with as much stack
// as those had on average that the last collection has seen: so there is a crowd of
// sleeping ones that have much. Should a runtime think otherwise, it helps nothing
// and harms nothing.
func enlargeStacks() {
	ready := make(chan struct{})
	for range sleepers {
		go sleepDeep(depth, ready)
	}
	for range sleepers {
		<-ready
	}
	runtime.GC()
}

// sleepDeep sleeps for ever, below so many calls.
//
//go:noinline
func sleepDeep(calls int, ready chan<- struct{}) int {
	var frame [32]int
	if calls == 0 {
		ready <- struct{}{}
		select {}
	}
	frame[calls%len(frame)] = sleepDeep(calls-1, ready)
	return frame[0]
}
