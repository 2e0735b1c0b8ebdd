package vote

import (
	"context"
	"time"
)

// undoPauses are the waits between tries to undo a vote. What cannot be undone
// ends by itself after a TTL, and costs no safety until then.
var undoPauses = []time.Duration{100 * time.Millisecond, 400 * time.Millisecond}

// Undo releases a vote that will not be used. Call it only after that vote has
// returned or timed out (R10). It blocks, bounded by a few timeouts.
func (m *Master) Undo(value string) {
	for i := 0; ; i++ {
		_, err := m.Release(context.Background(), value, 0)
		if !Ambiguous(err) || i == len(undoPauses) {
			return
		}
		time.Sleep(undoPauses[i])
	}
}

// Bound is the time that one try of an operation on a lease of that length may
// take: the rest of the lease must leave room for more.
func Bound(ttl time.Duration) time.Duration { return max(ttl/4, 10*time.Millisecond) }

// Within is ctx, bounded by d. It costs nothing where ctx ends sooner anyway.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if at, ok := ctx.Deadline(); ok && time.Until(at) <= d {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}
