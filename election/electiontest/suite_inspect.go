package electiontest

import (
	"testing"

	"incumbent/election"
)

var inspectChecks = []check{
	{"InspectFree", inspectFree},
	{"InspectHeld", inspectHeld},
	{"InspectReleased", inspectReleased},
}

// inspect asks the store, and checks what holds for every answer.
func inspect(t *testing.T, st election.Store) election.State {
	t.Helper()
	state, err := st.Inspect(t.Context())
	if err != nil {
		t.Fatalf("inspect: %v", err)
	}
	names := map[string]bool{}
	for i, m := range state.Masters {
		if !m.Reachable || m.Err != nil {
			t.Errorf("master %d (%s) cannot be read: %v", i, m.Name, m.Err)
		}
		if m.Name == "" || names[m.Name] {
			t.Errorf("master %d is called %q", i, m.Name)
		}
		names[m.Name] = true
		if m.Now.IsZero() {
			t.Errorf("master %d does not tell its time", i)
		}
	}
	return state
}

func inspectFree(t *testing.T, s *Setup) {
	state := inspect(t, s.Open())
	if state.Leader != nil || state.Last != 0 || len(state.Masters) != s.Masters {
		t.Errorf("a new election: %+v", state)
	}
	for i, m := range state.Masters {
		if m.Holder != nil || m.Value != "" || !m.Until.IsZero() || m.ReleasedToken != 0 || m.Arms != 0 || !m.GuardUntil.IsZero() {
			t.Errorf("master %d of a new election: %+v", i, m)
		}
	}
	s.mustHold(t, "")
}

func inspectHeld(t *testing.T, s *Setup) {
	ann, other := s.Open(), s.Open()
	g := win(t, ann, s.bid("ann"))
	settle(t, ann)
	state := inspect(t, other)
	if state.Leader == nil {
		t.Fatal("nobody leads")
	}
	if l := state.Leader; l.ID != "ann" || l.Token != g.Token || l.TTL != s.TTL || l.Left <= 0 || l.Left > s.TTL {
		t.Errorf("leader is %+v", l)
	}
	if state.Last < g.Token {
		t.Errorf("last token %d, want at least %d", state.Last, g.Token)
	}
	for i, m := range state.Masters {
		if m.Value != g.Value || m.Holder == nil || m.Holder.ID != "ann" || m.Last < g.Token || m.Holder.Token != g.Token {
			t.Errorf("master %d: %+v", i, m)
		}
		if left := m.Until.Sub(m.Now); left <= 0 || left > s.TTL {
			t.Errorf("master %d: the lease runs until %s, it is %s", i, m.Until, m.Now)
		}
	}
}

func inspectReleased(t *testing.T, s *Setup) {
	st := s.Open()
	g := win(t, st, s.bid("ann"))
	release(t, st, g)
	state := inspect(t, st)
	if state.Leader != nil || state.Last < g.Token {
		t.Errorf("after the release: leader %+v, last %d", state.Leader, state.Last)
	}
	for i, m := range state.Masters {
		if m.Holder != nil || m.Value != "" || m.ReleasedToken != g.Token || m.Last < g.Token || !m.Until.IsZero() {
			t.Errorf("master %d after the release of %d: %+v", i, g.Token, m)
		}
	}
}
