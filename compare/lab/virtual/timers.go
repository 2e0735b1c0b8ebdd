package virtual

import (
	"slices"
	"sync"
	"time"

	"incumbent/internal/simnet"
)

// timers are those of one host. They stand still while it is suspended, as those of an
// operating system do, and have as long to go afterwards as they had before.
type timers struct {
	source *simnet.Source

	mu        sync.Mutex
	suspended bool
	pending   []*timer // in the order in which they were set; only those that a suspension can meet
}

// timer is one that has not gone off.
type timer struct {
	run  *time.Timer
	due  time.Time
	left time.Duration // while it stands still
	f    func()
}

// after calls f in a goroutine of its own once d has passed.
func (ts *timers) after(d time.Duration, f func()) (stop func() bool) {
	t := &timer{left: d}
	t.f = func() {
		ts.remove(t)
		f()
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.pending = append(ts.pending, t)
	if !ts.suspended {
		ts.start(t)
	}
	return func() bool { return ts.stop(t) }
}

// start sets a timer going. ts.mu is held.
func (ts *timers) start(t *timer) {
	d := ts.source.Until(t.left)
	t.due = time.Now().Add(d)
	t.run = time.AfterFunc(d, t.f)
}

// stop prevents a timer from going off, and reports whether it did.
func (ts *timers) stop(t *timer) bool {
	ts.mu.Lock()
	run := t.run
	ts.mu.Unlock()
	stands := ts.remove(t)
	if run == nil {
		return stands
	}
	return run.Stop()
}

// remove forgets a timer, and reports whether it was still known.
func (ts *timers) remove(t *timer) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	i := slices.Index(ts.pending, t)
	if i < 0 {
		return false
	}
	ts.pending = slices.Delete(ts.pending, i, i+1)
	return true
}

// suspend makes all timers stand still. Those that are going off are on their way.
func (ts *timers) suspend() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.suspended = true
	for _, t := range ts.pending {
		if t.run != nil && t.run.Stop() {
			t.run, t.left = nil, time.Until(t.due)
		}
	}
}

// resume lets them go on.
func (ts *timers) resume() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.suspended = false
	for _, t := range ts.pending {
		if t.run == nil {
			ts.start(t)
		}
	}
}
