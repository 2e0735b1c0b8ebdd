package config

import (
	"errors"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// Ask finds the leader whatever the mode, and its term ends with the request as detail.
func TestAsk(t *testing.T) {
	simulated(t, time.Hour, nil, func(t *testing.T, cl *Client, _ []*simnet.Master, _ *logs) {
		if _, err := cl.Ask(t.Context(), "job", election.HandOver{Token: 1}); !errors.Is(err, election.ErrNoLeader) {
			t.Errorf("before the first term: %v", err)
		}
		noErr(t, cl.Init(t.Context(), "job"))
		e, err := cl.Elector("job", func(o *election.Options) { o.ID, o.Clock = "me", election.RuntimeClock() })
		noErr(t, err)
		term, err := e.Campaign(t.Context())
		noErr(t, err)
		if _, err := cl.Ask(t.Context(), "job", election.HandOver{Token: term.Token() + 1}); !errors.Is(err, election.ErrTaken) {
			t.Errorf("another term: %v", err)
		}
		l, err := cl.Ask(t.Context(), "job", election.HandOver{Token: term.Token(), By: "ops"})
		if err != nil || l.ID != "me" || l.Token != term.Token() {
			t.Errorf("asked %+v, %v", l, err)
		}
		<-term.Context().Done()
		var by *election.AskedError
		if !errors.As(term.Loss(), &by) || by.By != "ops" {
			t.Errorf("the term ended with %v", term.Loss())
		}
		if _, err := cl.Ask(t.Context(), "no name", election.HandOver{Token: 1}); err == nil {
			t.Error("a bad name is taken")
		}
		noErr(t, cl.Close())
		if _, err := cl.Ask(t.Context(), "job", election.HandOver{Token: 1}); !errors.Is(err, election.ErrClientClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
