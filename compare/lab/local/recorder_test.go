package local

import (
	"testing"
	"time"

	"incumbent/compare/history"
)

// A term that began later, at a primary that is one no more, may end first: the one
// that goes on is the current one.
func TestRecorderCurrent(t *testing.T) {
	r := newRecorder()
	now := monotonic()
	line := func(kind history.Kind, actor string, token uint64, at, deadline time.Duration) {
		r.add(Line{Event: history.Event{At: now + at, Kind: kind, Actor: actor, Token: token, Deadline: now + deadline}})
	}
	check := func(when string, token uint64, goesOn bool) {
		t.Helper()
		if got, ok := r.current(); ok != goesOn || ok && got.token != token {
			t.Errorf("%s: the current term is %d, %t", when, got.token, ok)
		}
		if got := r.leading(); got.token != token {
			t.Errorf("%s: %d leads, want %d", when, got.token, token)
		}
	}
	check("before anything", 0, false)
	line(history.TermStarted, "a", 7, -3*time.Second, time.Hour)
	line(history.TermStarted, "b", 9, -2*time.Second, time.Hour)
	check("with two", 9, true)
	if end := r.rivals(); end != now+time.Hour {
		t.Errorf("a rival until %s", end)
	}
	line(history.TermEnded, "b", 9, -time.Second, 0)
	check("when the later one has ended", 7, true)
	if end := r.rivals(); end != 0 {
		t.Errorf("a rival until %s, where none is left", end)
	}
	line(history.Renewed, "a", 7, -time.Second, -time.Millisecond)
	check("when the other one has run out", 9, false)
}
