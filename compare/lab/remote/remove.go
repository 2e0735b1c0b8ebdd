package remote

import (
	"context"
	"fmt"
	"sync"
	"time"

	"incumbent/compare/lab/local"
)

// Removed is what became of the keys of a comparison.
type Removed struct {
	// Keys is how many were deleted, at all masters together.
	Keys int64 `json:"keys"`
	// Missed names the masters that could not be asked, with the reason.
	Missed []string `json:"missed,omitempty"`
}

// removing bounds what one master may take for it.
const removing = 20 * time.Second

// Remove deletes the keys of elections that have those names, at all masters of all
// modes. Nobody may campaign in them any more. ctx and 20 s bound it; a master that
// cannot be asked is named.
func (s *Set) Remove(ctx context.Context, elections []string) (r Removed) {
	ctx, cancel := context.WithTimeout(ctx, removing)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, t := range s.targets {
		for _, server := range t.client.Servers() {
			wg.Go(func() {
				n, err := local.Forget(ctx, server.Client, s.Prefix, elections...)
				mu.Lock()
				defer mu.Unlock()
				r.Keys += n
				if err != nil {
					r.Missed = append(r.Missed, fmt.Sprintf("%s: %v", server.Name, err))
				}
			})
		}
	}
	wg.Wait()
	return r
}

// Names lists the names of the first n elections.
func (id ID) Names(n int) (list []string) {
	for i := range min(n, id.total) {
		list = append(list, id.Election(i))
	}
	return list
}
