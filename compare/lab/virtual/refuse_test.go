package virtual

import (
	"errors"
	"slices"
	"testing"

	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// notesOf lists what the history says of an actor.
func (l *lab) notesOf(actor string) (notes []string) {
	for _, ev := range l.rec.events {
		if ev.Kind == history.Note && ev.Actor == actor {
			notes = append(notes, ev.Name)
		}
	}
	return notes
}

// TestRefuse: a leader goes on to renew where memory alone is missing, and else loses its
// term; and all is well again once the master accepts.
func TestRefuse(t *testing.T) {
	for why, want := range map[fault.Refusal]struct {
		leads bool
		note  string
	}{
		fault.OutOfMemory:  {true, "has no memory left"},
		fault.NoReplicas:   {false, "lacks replicas"},
		fault.EmptyPrimary: {false, "becomes a replica of a server without data"},
		fault.StalePrimary: {false, "becomes a replica of the server that holds its last snapshot"},
	} {
		inSingle(t, func(t *testing.T, l *lab, p *place) {
			leader, id := l.Leader(), p.primary.RunID()
			if err := l.Snapshot(0); err != nil {
				t.Fatal(err)
			}
			if err := l.Refuse(0, why); err != nil {
				t.Fatal(err)
			}
			l.Pass(1.5)
			if leads := l.Leader() == leader; leads != want.leads {
				t.Errorf("%s: it leads: %v", want.note, leads)
			}
			if err := l.Accept(0); err != nil {
				t.Fatal(err)
			}
			l.Pass(2.5) // a guard, and time to notice
			if l.Leader() == "" || p.primary.RunID() != id {
				t.Errorf("%s: nobody leads in the end, or the master was restarted", want.note)
			}
			if notes := l.notesOf("master-1"); !slices.Equal(notes, []string{"its replica begins to lag", want.note, "takes writes again"}) {
				t.Errorf("%s: the history says %q", want.note, notes)
			}
		})
	}
}

// TestOperatorIsRefused: so are those who would do something to the keys.
func TestOperatorIsRefused(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		if err := l.Refuse(0, fault.NoReplicas); err != nil {
			t.Fatal(err)
		}
		for _, do := range []func(int) error{l.Flush, l.Forget} {
			if err := do(0); !errors.Is(err, fault.ErrMissed) {
				t.Errorf("error is %v", err)
			}
		}
		l.holds(t, p, true, true)
		if err := l.Restart(0, fault.AllData); err != nil {
			t.Fatal(err)
		}
		if err := l.Flush(0); err != nil {
			t.Errorf("after a restart: %v", err)
		}
	})
}

// TestPauseClients: the master answers nothing, and then goes on.
func TestPauseClients(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		leader := l.Leader()
		if err := l.PauseClients(0, 0.5); err != nil {
			t.Fatal(err)
		}
		before := p.primary.Commands("", "EVALSHA")
		l.Pass(0.49)
		if n := p.primary.Commands("", "EVALSHA"); n != before {
			t.Errorf("%d commands were executed", n-before)
		}
		l.Pass(0.5)
		if n := p.primary.Commands("", "EVALSHA"); n == before || l.Leader() != leader {
			t.Errorf("nothing was executed afterwards, or %q leads and not %s", l.Leader(), leader)
		}
	})
}

// TestKillClients: everybody comes again.
func TestKillClients(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		leader := l.Leader()
		if err := l.KillClients(0); err != nil {
			t.Fatal(err)
		}
		for _, c := range l.candidates {
			if n := p.primary.Connections(c.name); n != 0 {
				t.Errorf("%s has %d connections", c.name, n)
			}
		}
		l.Pass(1)
		for _, c := range l.candidates {
			if p.primary.Connections(c.name) == 0 {
				t.Errorf("%s does not come again", c.name)
			}
		}
		if now := l.Leader(); now != leader {
			t.Errorf("%s led, and %q leads", leader, now)
		}
	})
}
