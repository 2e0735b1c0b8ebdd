package election

import (
	"context"
	"fmt"
)

// A Guard is a resource that remembers the highest fencing token it has seen,
// and refuses whoever comes with a smaller one. Package fence has guards for SQL
// databases, Redis, HTTP services and memory.
//
// It is what makes a token useful: no elector can stop a leader that was paused
// between its check and its act, but the resource can refuse that act.
type Guard interface {
	// Raise lifts the resource's token to t before any work is done, so that
	// acts of earlier terms are refused from here on, and not only from the new
	// leader's first act (R14). It returns once that is certain, also for acts
	// that were under way. Raising to the same token again succeeds.
	//
	// It must return when ctx ends: the lease is kept for as long as it blocks.
	//
	// The error is a *FencedError when the resource knows a higher token; any
	// other means that nothing is certain.
	Raise(ctx context.Context, t Token) error
}

// FencedError is an act, or a Raise, that a resource refused because it knows a
// higher token. It matches ErrFenced.
type FencedError struct {
	// Resource says who refused: a table and row, a key, a URL.
	Resource string
	// Token is what was refused, Known the resource's own. Known is 0 when the
	// resource did not say.
	Token, Known Token
}

// Error names the resource and both tokens.
func (e *FencedError) Error() string {
	return fmt.Sprintf("%s: %v: %d is refused, %d is known", e.Resource, ErrFenced, e.Token, e.Known)
}

// Is makes a FencedError match ErrFenced.
func (e *FencedError) Is(target error) bool { return target == ErrFenced }
