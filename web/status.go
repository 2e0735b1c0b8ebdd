package web

import (
	"time"

	"incumbent/election"
)

// Status is what /leader answers. Durations are in whole milliseconds.
type Status struct {
	// Election is the election's name.
	Election string `json:"election"`
	// Leader is whether this candidate led when the question was handled.
	Leader bool `json:"leader"`
	// Stopping is whether its term is about to end: it still leads, and its work
	// has been told to stop.
	Stopping bool `json:"stopping,omitempty"`
	// Candidate is the one that answers.
	Candidate Candidate `json:"candidate"`
	// Token, LeftMS and Since are its term's: the fencing token, the time until
	// leadership stops being provable unless the lease is renewed, and when the
	// term began. They are missing while it does not lead.
	Token  election.Token `json:"token,omitempty"`
	LeftMS int64          `json:"left_ms,omitempty"`
	Since  *time.Time     `json:"since,omitempty"`
	// Known is who else leads, as far as this candidate was told; nil if it leads
	// itself or was told nothing.
	Known *Known `json:"known_leader,omitempty"`
}

// Known is a leader that a refused bid has named. It may have gone since.
type Known struct {
	Candidate
	// Token is the term's.
	Token election.Token `json:"token"`
	// LeftMS is what the lease still had when this was heard; 0 if unknown. It has
	// probably been renewed since.
	LeftMS int64 `json:"left_ms,omitempty"`
	// AgeMS is how long ago this was heard.
	AgeMS int64 `json:"age_ms"`
}

// Candidate is a candidate as others may see it.
type Candidate struct {
	ID       string            `json:"id"`
	Host     string            `json:"host,omitempty"`
	PID      int               `json:"pid,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Status is what /leader would answer now. It asks nobody and does not block.
func (h *Handler) Status() Status {
	s := Status{Election: h.opt.Election, Candidate: h.who}
	if t, since := h.follower.Term(); t != nil {
		stopping := t.Loss() != nil
		// Read once, and last: it is above 0 as long as the term is valid.
		if left := t.Remaining(); left > 0 {
			s.Leader, s.Stopping = true, stopping
			s.Token, s.LeftMS, s.Since = t.Token(), left.Milliseconds(), &since
			return s
		}
	}
	if l, age, ok := h.follower.Holder(); ok {
		s.Known = &Known{
			Candidate: Candidate{ID: l.ID, Host: l.Host, PID: l.PID, Metadata: l.Metadata},
			Token:     l.Token, LeftMS: l.Left.Milliseconds(), AgeMS: age.Milliseconds(),
		}
	}
	return s
}
