package election

import (
	"context"
	"fmt"
	"time"
)

// A HandOver is a request to the leader to resign, which somebody left in the
// store. The leader finds it with its next renewal, so within Options.Renew, and
// ends its term as resigned; its work is given time to stop as always.
//
// It is a request, not an order: whoever can write to the store can make it, and a
// leader that is cut off does not hear it. Nobody is forced out, so nothing that
// is promised of terms depends on it.
type HandOver struct {
	// Token is that of the term that is asked. A request for another term is not
	// heeded. 0 is no term.
	Token Token `json:"token"`
	// To is the ID of the candidate that should lead next; "" means any. For
	// Reserve after the release nobody else is granted the lease, by masters that
	// know of the request; after that anybody is.
	To string `json:"to,omitempty"`
	// By says who asks, for people.
	By string `json:"by,omitempty"`
	// Reserve is how long To goes first, in whole milliseconds; 0 means not at all.
	// A To that does not campaign costs as long without a leader.
	Reserve time.Duration `json:"-"`
}

// An Asker is a store through which the leader can be asked to hand over.
type Asker interface {
	// Ask leaves the request with the leader's lease and returns who is asked, as
	// the store knows it. It does not wait for the hand-over. The error matches
	// ErrNoLeader when nobody holds a lease, ErrTaken when the lease is of another
	// term than h.Token; any other says which master failed, and the request may
	// or may not be heeded.
	Ask(ctx context.Context, h HandOver) (Leader, error)
}

// AskedError is the detail of a *Loss by resignation: somebody asked for it.
type AskedError struct{ HandOver }

// Error says who asked, and for whom.
func (e *AskedError) Error() string {
	text := "asked to hand over"
	if e.By != "" {
		text += fmt.Sprintf(" by %q", e.By)
	}
	if e.To != "" {
		text += fmt.Sprintf(" to %q", e.To)
	}
	return text
}
