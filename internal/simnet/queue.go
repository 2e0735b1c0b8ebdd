package simnet

import (
	"bytes"
	"cmp"
	"time"
)

// An event is something due at an instant. Exactly one of the pointers says what.
type event struct {
	at    int64  // nanoseconds, as of UnixNano
	order uint64 // link and direction, to order events of one instant
	seq   uint64 // order of scheduling: the last resort
	seg   *segment
	conn  *conn   // its read deadline may have come
	wait  *waiter // leaves the gate
	inbox *Master // works off what queued up while it hung
}

// eventQueue is a binary heap. All events of one instant were scheduled before
// it, so their order can be that of their content, whatever goroutine came first.
type eventQueue []event

func (q eventQueue) less(i, j int) bool {
	a, b := &q[i], &q[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.order != b.order {
		return a.order < b.order
	}
	if a.seg != nil && b.seg != nil {
		if c := bytes.Compare(a.seg.data, b.seg.data); c != 0 {
			return c < 0
		}
	}
	return cmp.Less(a.seq, b.seq)
}

func (q *eventQueue) push(e event) {
	*q = append(*q, e)
	h := *q
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (q *eventQueue) pop() event {
	h := *q
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h[last] = event{}
	*q = h[:last]
	h = *q
	for i := 0; ; {
		least, child := i, 2*i+1
		if child < last && h.less(child, least) {
			least = child
		}
		if child+1 < last && h.less(child+1, least) {
			least = child + 1
		}
		if least == i {
			return top
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// schedule adds e to the queue. w.mu is held.
func (w *World) schedule(e event) {
	if w.closed {
		return
	}
	w.seq++
	e.seq = w.seq
	w.queue.push(e)
	if !w.running {
		w.arm()
	}
}

// arm sets the timer to the first event. w.mu is held.
func (w *World) arm() {
	if len(w.queue) == 0 || w.closed {
		return
	}
	if at := w.queue[0].at; w.armed == 0 || at < w.armed {
		w.armed = at
		w.timer.Reset(time.Duration(at - w.now()))
	}
}

// run handles all events that are due. It is the only goroutine in which masters
// execute commands and connections receive, and exists only while there is
// something to do.
func (w *World) run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running || w.closed {
		return
	}
	w.running, w.armed = true, 0
	for w.step() {
	}
	w.running = false
	w.arm()
}

// step handles one event, and reports whether there was one.
func (w *World) step() bool {
	if len(w.traced) > 0 {
		w.report()
		return true
	}
	if w.closed || len(w.queue) == 0 || w.queue[0].at > w.now() {
		return false
	}
	e := w.queue.pop()
	switch {
	case e.seg != nil:
		e.seg.land(e.at)
	case e.conn != nil:
		e.conn.wake(e.at)
	case e.wait != nil:
		close(e.wait.open)
	case e.inbox != nil:
		e.inbox.drain()
	}
	return true
}

// report calls the tracer, without the lock so that it may look around.
func (w *World) report() {
	batch, f := w.traced, w.onCommand
	w.traced = nil
	w.mu.Unlock()
	defer w.mu.Lock()
	for _, c := range batch {
		f(c)
	}
}

// now is the present instant.
func (w *World) now() int64 { return time.Now().UnixNano() }
