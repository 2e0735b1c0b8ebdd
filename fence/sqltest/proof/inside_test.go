package proof_test

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// TestPauseInsideTransaction stops a leader inside of a transaction, after the
// guard's check and before its write. The row stays locked, so its write is not
// stale: the next leader cannot raise the guard before that transaction has
// ended, and nobody's work begins.
func TestPauseInsideTransaction(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		options string // of the session
		what    string
		enough  func(line) bool // of an end to the pause
		outcome string          // of the write after it
	}{
		"waits": {
			what:    "a term that cannot raise its guard",
			enough:  func(l line) bool { return l.Kind == ended && l.Err == "unhealthy" },
			outcome: accepted,
		},
		// PostgreSQL ends the transaction by itself.
		"is ended": {
			options: " idle_in_transaction_session_timeout=1000",
			what:    "the next leader's writes",
			enough:  hasWritten,
			outcome: failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := w.contest(t, childConfig{
				Election: strings.ReplaceAll(name, " ", "-"), Mode: "single", Raise: true, Inside: true, Postgres: w.dsn + tt.options,
			})
			together(t, []*contest{x}, func(ctx context.Context, x *contest) error {
				p, err := x.strike(ctx, tt.what, tt.enough)
				if err == nil {
					checkInside(t, p, tt.outcome)
				}
				return err
			})
			w.checkTable(t, x)
		})
	}
}

// checkInside fails the test unless the old leader's transaction ended as it
// must, and before anybody else's work began.
func checkInside(t *testing.T, p *pause, outcome string) {
	t.Helper()
	late := p.told(act, p.oldToken, func(l line) bool { return l.At > p.resumed })
	if len(late) != 1 || late[0].Outcome != outcome {
		t.Errorf("want the write after the pause to be %s: %+v", outcome, late)
	}
	for _, l := range p.lines {
		if outcome == accepted && l.Kind == checked && l.Token > p.oldToken && l.At < p.resumed {
			t.Errorf("work began beside an open transaction: %+v\n%v", l, p)
		}
	}
	if outcome == failed && len(late) == 1 {
		t.Logf("SIGCONT came %v after SIGSTOP: %s", p.resumed-p.stopped, late[0].Err)
	}
}

// checkTable fails the test unless the guarded table took tokens in order, and
// nothing that candidates do not know to be accepted.
func (w *world) checkTable(t *testing.T, x *contest) {
	t.Helper()
	checkRefusals(t, x.lines)
	_, log, err := w.tableHistory(interrupted, guardedPath, x.cfg.Election)
	check(t, err)
	said := 0
	for _, l := range x.lines {
		if l.Kind == act && l.Outcome == accepted {
			said++
		}
	}
	if len(log) != said || !slices.IsSorted(log) {
		t.Errorf("candidates tell of %d acts, log %v", said, log)
	}
}
