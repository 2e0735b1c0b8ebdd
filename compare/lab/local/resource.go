package local

import (
	"sync"

	"incumbent/compare/history"
)

// resource is what leaders act on: one without a fence, which takes every act,
// and one with a fence, which refuses a token below the highest it has seen.
type resource struct {
	mu      sync.Mutex
	highest uint64
}

// arrive judges an act and stamps it, both at one instant.
func (r *resource) arrive(l Line) Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	fenced := l.Token >= r.highest
	r.highest = max(r.highest, l.Token)
	l.At, l.Kind, l.Unfenced, l.Fenced = monotonic(), history.Acted, true, fenced
	return l
}
