package virtual

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// TestExplain has one goroutine of a bubble wait for a mutex and one for a channel:
// only the former keeps the clock from going on, and it is told of first.
func TestExplain(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var mu sync.Mutex
		mu.Lock()
		done := make(chan struct{})
		go waitFor(done)
		synctest.Wait()
		about := make(chan struct{})
		go func() {
			close(about)
			mu.Lock()
			defer mu.Unlock()
		}()
		<-about
		var told strings.Builder
		for !strings.Contains(told.String(), "sync.Mutex.Lock") {
			told.Reset()
			explain(&told, Spec{Seed: 7})
		}
		mu.Unlock()
		close(done)
		text := told.String()
		if !strings.Contains(text, "seed 7") {
			t.Error("it does not say which run is stuck")
		}
		guilty, innocent := strings.Index(text, "sync.Mutex.Lock"), strings.Index(text, "virtual.waitFor")
		if innocent < guilty {
			t.Errorf("what waits for a mutex is at %d, what waits durably at %d:\n%s", guilty, innocent, text)
		}
	})
}

// waitFor waits durably.
func waitFor(done <-chan struct{}) { <-done }
