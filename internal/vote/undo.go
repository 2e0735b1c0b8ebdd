package vote

import (
	"context"
	"errors"
	"fmt"
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
		// rare: undo-tried-again
		time.Sleep(undoPauses[i])
	}
}

// Bound is the time that one try of an operation on a lease of that length may
// take: the rest of the lease must leave room for more.
func Bound(ttl time.Duration) time.Duration { return max(ttl/4, 10*time.Millisecond) }

// Within is ctx, bounded by d, which errors then call what. It costs nothing
// where ctx ends sooner anyway.
func Within(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	if at, ok := ctx.Deadline(); ok && time.Until(at) <= d {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, &limit{d, what})
}

// TryTime is what errors call the bound of one try of an operation on a lease.
const TryTime = "time of one try"

// limit is a timeout of ours. It matches context.DeadlineExceeded.
type limit struct {
	d    time.Duration
	what string
}

// Error says how long it was, and whose.
func (l *limit) Error() string {
	return fmt.Sprintf("no answer within %s (%s)", l.d.Round(time.Millisecond), l.what)
}

// Is makes a limit match context.DeadlineExceeded.
func (l *limit) Is(target error) bool { return target == context.DeadlineExceeded }

// ran says which time ran out when a call bounded by ctx failed with err: one of
// ours, the caller's, or the client's own.
func ran(ctx context.Context, err error) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		<-ctx.Done() // the client can be a moment quicker than the timer
	}
	var ours *limit
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case errors.As(cause, &ours):
		return fmt.Errorf("%w: %w", ours, err)
	case errors.Is(err, cause):
		return fmt.Errorf("no answer within the caller's deadline: %w", err)
	default:
		return fmt.Errorf("no answer within the caller's deadline: %w: %w", cause, err)
	}
}
