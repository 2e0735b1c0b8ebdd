package follow_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/internal/follow"
)

func leader(id string, token election.Token) election.Leader {
	return election.Leader{Candidate: election.Candidate{ID: id}, Token: token}
}

// Who else leads is known from refused bids and from the loss of a term to somebody; it
// is forgotten as soon as this candidate leads.
func TestHolder(t *testing.T) {
	refused := election.Event{Kind: election.BidRefused, Err: &election.HeldError{Holder: leader("x", 3)}}
	failed := election.Event{Kind: election.BidRefused, Err: &election.MasterError{Master: "redis-a", Kind: election.ErrUnreachable, Err: errors.New("no route")}}
	started := election.Event{Kind: election.TermStarted, Token: 4}
	ended := func(reason, detail error) election.Event {
		return election.Event{Kind: election.TermEnded, Token: 4, Err: &election.Loss{Token: 4, Reason: reason, Err: detail}}
	}
	taken := ended(election.ErrTaken, &election.TakenError{By: leader("y", 5)})
	for name, c := range map[string]struct {
		events []election.Event
		want   string        // who is known to lead
		age    time.Duration // since then; a second passes after each event
	}{
		"nothing heard":                     {nil, "", 0},
		"a refused bid":                     {[]election.Event{refused}, "x", time.Second},
		"a refused bid, and one that fails": {[]election.Event{refused, failed}, "x", 2 * time.Second},
		"leading":                           {[]election.Event{refused, started}, "", 0},
		"resigned":                          {[]election.Event{refused, started, ended(election.ErrResigned, nil)}, "", 0},
		"expired":                           {[]election.Event{refused, started, ended(election.ErrExpired, nil)}, "", 0},
		"taken":                             {[]election.Event{refused, started, taken}, "y", time.Second},
		"taken, for a while":                {[]election.Event{started, taken, failed}, "y", 2 * time.Second},
		"taken, and another since":          {[]election.Event{started, taken, refused}, "x", time.Second},
		"taken, and leading again":          {[]election.Event{started, taken, started}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := follow.New(election.RuntimeClock())
				for _, ev := range c.events {
					ev.At = time.Now()
					f.Observe(ev)
					time.Sleep(time.Second)
				}
				l, age, ok := f.Holder()
				if ok != (c.want != "") || l.ID != c.want || age != c.age {
					t.Errorf("%q leads, heard %s ago (%t); want %q, %s", l.ID, age, ok, c.want, c.age)
				}
			})
		})
	}
}
