package quorum

import (
	"context"
	"sync"

	"incumbent/internal/vote"
)

// Released implements election.Store. A release wakes a standby once a majority
// of masters has announced it: a bid that comes earlier would only split votes.
func (s *Store) Released(ctx context.Context) (<-chan struct{}, error) {
	w := &waker{need: s.need, hints: make(chan struct{}, 1), heard: map[string]map[int]bool{}}
	for i, m := range s.masters {
		s.back.While(ctx, func() {
			m.Listen(ctx, s.ping.After(), func(k vote.Wake) { w.add(i, k.Value) })
		})
	}
	return w.hints, nil
}

// waker turns what the masters announce into hints.
type waker struct {
	need  int
	hints chan struct{}

	mu    sync.Mutex
	heard map[string]map[int]bool // lease value to masters that announced its release
	order []string                // the values in heard, oldest first
}

// maxHeard bounds what is remembered of releases that never reached a majority.
const maxHeard = 64

// add notes that master i announced the release of value, or was subscribed to
// when value is "": that counts likewise, since only a majority that was away
// can have announced what this standby missed.
func (w *waker) add(i int, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	by := w.heard[value]
	if by == nil {
		by = map[int]bool{}
		w.heard[value] = by
		w.order = append(w.order, value)
		if len(w.order) > maxHeard {
			delete(w.heard, w.order[0])
			w.order = w.order[1:]
		}
	}
	by[i] = true
	if len(by) == w.need {
		w.hint()
		if value == "" {
			// rare: subscriptions-made-anew
			clear(by) // from here on, what is made again
		}
	}
}

func (w *waker) hint() {
	select {
	case w.hints <- struct{}{}:
	default: // one hint waits already
	}
}
