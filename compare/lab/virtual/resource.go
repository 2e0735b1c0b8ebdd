package virtual

import (
	"sync"

	"incumbent/compare/history"
)

// resource is what leaders work on. It keeps two registers: one takes every act,
// the other one, which has a fence, refuses acts with a token below the largest
// that it has seen.
type resource struct {
	rec *recorder

	mu  sync.Mutex
	top uint64
}

// take is the arrival of an act.
func (r *resource) take(candidate string, token uint64) {
	r.mu.Lock()
	fenced := token >= r.top
	r.top = max(r.top, token)
	r.mu.Unlock()
	r.rec.add(history.Event{Actor: candidate, Kind: history.Acted, Token: token, Unfenced: true, Fenced: fenced})
}
