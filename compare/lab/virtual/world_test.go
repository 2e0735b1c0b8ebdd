package virtual

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/compare/fault"
)

// TestWorldNeedsALivingCandidate: nothing can be done to a stranger or to the dead.
func TestWorldNeedsALivingCandidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := newLab(Spec{Seed: 1, Mode: "single", Masters: 1, Fault: "crash", TTL: time.Second, Candidates: 2})
		if err != nil {
			t.Fatal(err)
		}
		l.start()
		if err := l.Kill("candidate-1"); err != nil {
			t.Error(err)
		}
		var w fault.World = l
		for _, name := range []string{"candidate-1", "stranger"} {
			for what, f := range map[string]func(string) error{
				"Resign": w.Resign, "Kill": w.Kill, "Freeze": w.Freeze, "FreezeBeforeWrite": w.FreezeBeforeWrite,
				"Thaw": w.Thaw, "Cut": w.Cut, "Heal": w.Heal,
			} {
				if err := f(name); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s(%q): error is %v", what, name, err)
				}
			}
		}
		l.sleep(time.Second)
		if got := w.Leader(); got != "candidate-2" {
			t.Errorf("leader is %q", got)
		}
		if err := l.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestFreezeBeforeWriteOfAStandby: whoever does not act cannot be caught acting.
func TestFreezeBeforeWriteOfAStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := newLab(Spec{Seed: 1, Mode: "single", Masters: 1, Fault: "crash", TTL: time.Second, Candidates: 2})
		if err != nil {
			t.Fatal(err)
		}
		l.start()
		l.sleep(time.Second)
		standby := "candidate-1"
		if l.Leader() == standby {
			standby = "candidate-2"
		}
		if err := l.FreezeBeforeWrite(standby); err == nil || !strings.Contains(err.Error(), "did not act for 1s") {
			t.Errorf("error is %v", err)
		}
		if l.w.Frozen(standby) {
			t.Error("it is frozen")
		}
		if err := l.stop(); err != nil {
			t.Error(err)
		}
	})
}
