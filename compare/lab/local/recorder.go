package local

import (
	"context"
	"sync"
	"time"

	"incumbent/compare/history"
)

// recorder keeps what was told, in the order in which it was heard, and wakes
// those who wait for something. It forgets what lies before the current run.
type recorder struct {
	mu    sync.Mutex
	base  int // how many lines were forgotten
	lines []Line
	grown chan struct{} // closed at the next line
	terms map[uint64]*termState
	top   uint64 // of the term that started last

	subscribed map[string]bool // who has said so: see Lab.farListen
}

// termState is what is known of one term.
type termState struct {
	actor             string
	token             uint64
	started, deadline time.Duration
	acted             bool // its work has begun, and may be asked to end
	ended             bool
}

func newRecorder() *recorder {
	return &recorder{grown: make(chan struct{}), terms: map[uint64]*termState{}, subscribed: map[string]bool{}}
}

func (r *recorder) add(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(l)
	r.listening(l)
	r.lines = append(r.lines, l)
	close(r.grown)
	r.grown = make(chan struct{})
}

// follow keeps the state of terms. r.mu is held.
func (r *recorder) follow(l Line) {
	switch t := r.terms[l.Token]; {
	case l.Kind == history.TermStarted:
		r.terms[l.Token] = &termState{actor: l.Actor, token: l.Token, started: l.At, deadline: l.Deadline}
		if last := r.terms[r.top]; last == nil || last.started <= l.At {
			r.top = l.Token
		}
	case t == nil:
	case l.Kind == history.Renewed:
		t.deadline = l.Deadline
	case l.Kind == history.Checked:
		t.acted = true
	case l.Kind == history.TermEnded:
		t.ended = true
	}
}

// latest is the term that started last; false while there was none.
func (r *recorder) latest() (termState, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.terms[r.top]; t != nil {
		return *t, true
	}
	return termState{}, false
}

// current is the term that started last of those that go on, as far as was heard; false
// while there is none. Where two did, the later one need not outlast the other: it may
// be at a primary that is one no more.
func (r *recorder) current() (now termState, ok bool) {
	for _, t := range r.open() {
		if t.deadline > monotonic() && (!ok || t.started > now.started) {
			now, ok = t, true
		}
	}
	return now, ok
}

// leading is the current term, or the latest one when none goes on.
func (r *recorder) leading() termState {
	t, ok := r.current()
	if !ok {
		t, _ = r.latest()
	}
	return t
}

// term is what is known of the term of that token.
func (r *recorder) term(token uint64) termState {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.terms[token]; t != nil {
		return *t
	}
	return termState{}
}

// open lists the terms that have not ended as far as was heard, though they may have
// run out.
func (r *recorder) open() (list []termState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.terms {
		if !t.ended {
			list = append(list, *t)
		}
	}
	return list
}

// rivals is until when somebody may believe to lead beside the current leader; 0 if
// nobody does.
func (r *recorder) rivals() (end time.Duration) {
	last, ok := r.current()
	for _, t := range r.open() {
		if ok && t.actor != last.actor && t.deadline > monotonic() {
			end = max(end, t.deadline)
		}
	}
	return end
}

// mark is a place in the record: after all that was heard so far.
func (r *recorder) mark() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base + len(r.lines)
}

// await returns the first line from mark on that f wants, or ctx's error.
func (r *recorder) await(ctx context.Context, mark int, f func(Line) bool) (Line, error) {
	for {
		r.mu.Lock()
		fresh, grown := r.lines[max(0, mark-r.base):], r.grown
		mark = r.base + len(r.lines)
		r.mu.Unlock()
		for _, l := range fresh {
			if f(l) {
				return l, nil
			}
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return Line{}, ctx.Err()
		}
	}
}

// since copies all lines stamped at or after from.
func (r *recorder) since(from time.Duration) (out []Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if l.At >= from {
			out = append(out, l)
		}
	}
	return out
}

// forget drops what was stamped before that time.
func (r *recorder) forget(before time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for n < len(r.lines) && r.lines[n].At < before {
		n++
	}
	r.base += n
	r.lines = append([]Line(nil), r.lines[n:]...)
	for token, t := range r.terms {
		if token != r.top && t.deadline < before {
			delete(r.terms, token)
		}
	}
}
