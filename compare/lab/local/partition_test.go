package local_test

import (
	"flag"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
)

var cuts = flag.Int("cuts", 10, "how many leaders to cut off in each mode")

// TestCutOffLeaderKnowsInTime cuts leaders off from all masters. The leader
// ignores its context and acts while Valid says yes: its context must be done,
// and the last yes given, before the lease has expired at the store.
func TestCutOffLeaderKnowsInTime(t *testing.T) {
	t.Parallel() // nothing here is a matter of milliseconds
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			o := m.options
			o.TTL, o.Proxies, o.Stubborn, o.ActEvery = 500*time.Millisecond, true, true, time.Millisecond
			l, ctx := open(t, o)
			var done, told dist
			machine := watchMachine(t)
			for range *cuts {
				machine()
				run, err := l.Run(ctx, "partition")
				if err != nil {
					t.Fatal(err)
				}
				figures(t, run)
				s, stall := sum(run), machine()
				switch {
				case s.contextDone == 0 || s.contextDone-stall >= s.expiry:
					t.Errorf("context done at %v, lease expired at %v, machine stalled %v:\n%s", s.contextDone, s.expiry, stall, timeline(run))
				case s.lastYes >= s.expiry || s.ended >= s.expiry:
					t.Errorf("Valid until %v, last yes at %v, lease expired at %v:\n%s", s.ended, s.lastYes, s.expiry, timeline(run))
				}
				done, told = append(done, s.expiry-s.contextDone), append(told, s.expiry-s.firstNo)
			}
			t.Logf("before expiry at the store, TTL %v: context done %v", o.TTL, done)
			t.Logf("before expiry at the store, TTL %v: first no of Valid %v", o.TTL, told)
		})
	}
}

// summary is what a run of a leader that was deposed shows.
type summary struct {
	fault, expiry, healed time.Duration
	contextDone           time.Duration
	ended                 time.Duration // of the struck term
	lastYes, firstNo      time.Duration // of the struck leader's Valid
	checkedAfterHealing   int
}

// sum reads a run. Events are in the order of their times.
func sum(run history.Run) (s summary) {
	var token uint64
	for _, e := range run.Events {
		if e.Kind == history.Fault {
			token, s.fault, s.expiry = e.Token, e.At, e.At+e.Floor
		}
	}
	for _, e := range run.Events {
		switch {
		case e.Kind == history.Healed:
			s.healed = e.At
		case e.Token != token:
		case e.Kind == history.TermEnded:
			s.ended = e.At
		case e.Name == local.NoteDone:
			s.contextDone = e.At
		case e.Name == local.NoteInvalid:
			s.firstNo = e.At
		case e.Kind == history.Checked:
			s.lastYes = e.At
			if s.healed > 0 {
				s.checkedAfterHealing++
			}
		}
	}
	return s
}
