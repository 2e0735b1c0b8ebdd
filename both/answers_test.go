package both

import (
	"errors"
	"fmt"
	"testing"

	"incumbent/election"
)

// The error of one master has parts, and is one answer all the same.
func TestFree(t *testing.T) {
	spent := &election.MasterError{Master: "a", Op: "acquire", Kind: election.ErrTokenSpent}
	down := &election.MasterError{Master: "b", Op: "acquire", Kind: election.ErrUnreachable, Err: errors.New("refused")}
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, false},
		{"only the token is missing", spent, true},
		{"the same, wrapped", fmt.Errorf("single: %w", spent), true},
		{"a cause besides", &election.MasterError{Kind: election.ErrTokenSpent, Err: errors.New("spent")}, true},
		{"down", down, false},
		{"two of three", errors.Join(spent, spent, down), true},
		{"one of two", errors.Join(spent, down), false},
	} {
		if got := free(tt.err); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
