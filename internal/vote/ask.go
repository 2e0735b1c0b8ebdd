package vote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"incumbent/election"
)

// Ask leaves a request to hand over with the lease of the term that it names. The
// status is asked, or free where nobody holds the lease, or other where it is another
// term's.
func (m *Master) Ask(ctx context.Context, h election.HandOver) (Reply, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return Reply{}, fmt.Errorf("request: %w", err)
	}
	if err := m.Check(ctx); err != nil {
		return Reply{}, err
	}
	return m.call(ctx, "ask", askScript, uint64(h.Token), text, h.To, h.Reserve.Milliseconds())
}

// longestText bounds the texts of a request, which each renewal brings back.
const longestText = 1000

// CheckAsk says what is wrong with a request before it is sent.
func CheckAsk(h election.HandOver) error {
	switch {
	case h.Token == 0 || h.Token > election.MaxToken:
		return fmt.Errorf("request to hand over: token %d: is no term's", h.Token)
	case h.Reserve < 0 || h.Reserve%time.Millisecond != 0:
		return fmt.Errorf("request to hand over: reserve %s: must be whole milliseconds, and not negative", h.Reserve)
	case h.Reserve > 0 && h.To == "":
		return errors.New("request to hand over: a reserve needs the candidate that it is for")
	case len(h.To) > longestText || len(h.By) > longestText:
		return fmt.Errorf("request to hand over: to and by: at most %d bytes each", longestText)
	}
	return nil
}

// asked reads a request that a renewal brought. One that cannot be read is none:
// whoever wrote it is not heard, and the term goes on.
func asked(text string) *election.HandOver {
	if text == "" {
		return nil
	}
	var h election.HandOver
	if err := json.Unmarshal([]byte(text), &h); err != nil || h.Token == 0 {
		// rare: asked-unreadably
		return nil
	}
	return &h
}
