package fence

import (
	"errors"
	"fmt"
	"net/http"

	"incumbent/election"
)

// Guard is election.Guard: what election.Run raises before the work starts.
// *Memory, *Redis, *SQL and *HTTPGuard are guards.
type Guard = election.Guard

var (
	_ Guard             = (*Redis)(nil)
	_ Guard             = (*HTTPGuard)(nil)
	_ Acts              = (*Memory)(nil) // and so a Guard
	_ http.RoundTripper = (*Transport)(nil)
)

// ErrInvalidToken says that a token is 0 or above election.MaxToken. No store
// issues such a token, so nothing was compared and nothing was done: the caller
// has forgotten to pass its term's.
var ErrInvalidToken = errors.New("not a fencing token")

// checkValid refuses tokens that no store issues.
func checkValid(resource string, t election.Token) error {
	if t == 0 || t > election.MaxToken {
		return fmt.Errorf("%s: %d is %w: must be 1 to 2^53 - 1 (pass Term.Token)", resource, t, ErrInvalidToken)
	}
	return nil
}
