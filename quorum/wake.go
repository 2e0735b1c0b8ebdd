package quorum

import (
	"context"
	"sync"
	"time"

	"incumbent/internal/vote"
)

// pingAfter is how long a silent subscription is trusted.
const pingAfter = 30 * time.Second

// Released implements election.Store. A release wakes a standby once a majority
// of masters has announced it: a bid that comes earlier would only split votes.
func (s *Store) Released(ctx context.Context) (<-chan struct{}, error) {
	w := &waker{need: s.need, hints: make(chan struct{}, 1), heard: map[string]map[int]bool{}, stood: map[int]bool{}}
	for i, m := range s.masters {
		s.back.Go(func() {
			m.Listen(ctx, pingAfter, func(k vote.Wake) { w.add(i, k.Value) })
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
	stood map[int]bool            // masters that were subscribed to once
}

// maxHeard bounds what is remembered of releases that never reached a majority.
const maxHeard = 64

// add notes that master i announced the release of value, or was (again)
// subscribed to when value is "".
func (w *waker) add(i int, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if value == "" {
		again := w.stood[i]
		w.stood[i] = true
		if again || len(w.stood) == w.need {
			w.hint()
		}
		return
	}
	if len(w.heard) >= maxHeard {
		clear(w.heard)
	}
	if w.heard[value] == nil {
		w.heard[value] = map[int]bool{}
	}
	w.heard[value][i] = true
	if len(w.heard[value]) == w.need {
		w.hint()
	}
}

func (w *waker) hint() {
	select {
	case w.hints <- struct{}{}:
	default: // one hint waits already
	}
}
