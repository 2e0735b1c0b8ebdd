package local_test

import (
	"flag"
	"testing"
	"time"
)

var freezes = flag.Int("freezes", 2, "how many leaders to freeze in each mode, at any point and between check and act")

// TestFrozenLeader stops leaders with SIGSTOP for up to two TTLs. A leader that wakes
// up begins no act, since its context and Valid read the clock. One that is
// stopped between its check and its act does act late, once; only a fence
// refuses that.
func TestFrozenLeader(t *testing.T) {
	t.Parallel() // nothing here is a matter of milliseconds
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			o := m.options
			o.TTL = 500 * time.Millisecond
			l, ctx := open(t, o)
			stale := map[string]int{}
			for i := range 2 * *freezes {
				fault := []string{"pause", "pause-write"}[i%2]
				run, err := l.Run(ctx, fault)
				if err != nil {
					t.Fatal(err)
				}
				f, s := figures(t, run), sum(run)
				if s.checkedAfterHealing > 0 {
					t.Errorf("%s: Valid said yes %d times after the leader woke up:\n%s", fault, s.checkedAfterHealing, timeline(run))
				}
				if f.StaleAcceptedFenced > 0 || fault == "pause-write" && f.StaleAttempted != 1 || f.StaleAttempted > 1 {
					t.Errorf("%s: %d stale acts, %d passed the fence:\n%s", fault, f.StaleAttempted, f.StaleAcceptedFenced, timeline(run))
				}
				stale[fault] += f.StaleAttempted
			}
			t.Logf("stale acts in %d freezes each, all refused by the fence: %v", *freezes, stale)
		})
	}
}
