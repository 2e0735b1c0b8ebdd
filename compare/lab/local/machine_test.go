package local_test

import (
	"testing"
	"time"
)

// watchMachine measures how late this machine lets a timer of a millisecond be:
// what no program on it can do better than. Each call returns the latest since
// the call before.
func watchMachine(t *testing.T) func() time.Duration {
	t.Helper()
	ask, answer := make(chan struct{}), make(chan time.Duration)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var worst time.Duration
		for {
			due := time.Now().Add(time.Millisecond)
			timer := time.NewTimer(time.Millisecond)
			select {
			case <-timer.C:
				worst = max(worst, time.Since(due))
			case _, ok := <-ask:
				timer.Stop()
				if !ok {
					return
				}
				answer <- worst
				worst = 0
			}
		}
	}()
	t.Cleanup(func() { close(ask); <-done })
	return func() time.Duration {
		ask <- struct{}{}
		return <-answer
	}
}
