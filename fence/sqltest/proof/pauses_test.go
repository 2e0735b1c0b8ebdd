package proof_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// modes are the elections that run side by side.
var modes = []string{"single", "quorum", "single", "quorum", "single", "single"}

// TestPausesBetweenCheckAndWrite stops leaders again and again. Every one of
// them writes after the next leader has; what has no guard takes it, and what has
// one does not.
func TestPausesBetweenCheckAndWrite(t *testing.T) {
	if *pauses < 1 {
		t.Fatalf("-pauses = %d: must be at least 1", *pauses)
	}
	w := newWorld(t)
	r := &run{began: time.Now(), left: *pauses, stale: newTally()}
	var all []*contest
	for i, mode := range modes[:min(len(modes), *pauses)] {
		all = append(all, w.contest(t, childConfig{Election: fmt.Sprintf("e%d", i+1), Mode: mode, Raise: true}))
	}
	together(t, all, func(ctx context.Context, x *contest) error { return r.pauseAll(ctx, t, x) })
	for _, x := range all {
		r.judge(t, w, x)
	}
	r.report(t, w)
	if *timelines != "" {
		check(t, r.typical(t).write(*timelines))
	}
}

// together runs f for all contests at once, and then ends them.
func together(t *testing.T, all []*contest, f func(context.Context, *contest) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(interrupted)
	defer cancel()
	var wg sync.WaitGroup
	for _, x := range all {
		wg.Go(func() {
			if err := f(ctx, x); err != nil && ctx.Err() == nil {
				t.Error(err)
				cancel() // the others need not go on
			}
		})
	}
	wg.Wait()
	if interrupted.Err() != nil {
		t.Fatal("interrupted")
	}
	for _, x := range all {
		check(t, x.close())
	}
	if t.Failed() {
		t.FailNow()
	}
}

// run is what came of all elections.
type run struct {
	began time.Time

	mu     sync.Mutex
	left   int // how many pauses are still to come
	pauses map[string]int
	length dist // from SIGSTOP to SIGCONT
	late   dist // from the end of the lease to the next term
	lift   dist // from there to the work, with all guards raised
	words  map[string]int
	single []*pause // those in single whose leader wrote before it looked
	looks  int      // pauses whose leader looked first

	stale       tally
	taken, down int
	terms       int // that ended before the test did
}

// next says whether another pause is wanted.
func (r *run) next() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left--
	return r.left >= 0
}

func (r *run) pauseAll(ctx context.Context, t *testing.T, x *contest) error {
	for r.next() {
		p, err := x.strike(ctx, "the next leader's writes", hasWritten)
		if err != nil {
			return err
		}
		checkPause(t, p)
		r.note(x, p)
	}
	return nil
}

// checkPause fails the test unless one pause went as it must.
func checkPause(t *testing.T, p *pause) {
	t.Helper()
	acts := staleActs(p.lines)
	for _, name := range resourceNames {
		for _, guarded := range []bool{false, true} {
			n, want := 0, accepted
			if guarded {
				want = refused
			}
			for _, l := range acts {
				if l.Token != p.oldToken || l.Resource != name || l.Guarded != guarded {
					continue
				}
				n++
				if l.Outcome != want {
					t.Errorf("a stale act was %s: %+v", l.Outcome, l)
				}
			}
			if n != 1 {
				t.Errorf("%s, guarded %t: %d stale acts, want 1:\n%v", name, guarded, n, p)
			}
		}
	}
	checkAwake(t, p)
}

// checkAwake fails the test unless a leader that was woken knew at its first look
// that its term is over, and then why.
func checkAwake(t *testing.T, p *pause) {
	t.Helper()
	look := p.told(looked, p.oldToken, nil)
	end := p.told(ended, p.oldToken, nil)
	switch {
	case len(look) != 1 || len(end) != 1:
		t.Errorf("%d looks, %d ends:\n%v", len(look), len(end), p)
	case look[0].Valid || look[0].Live:
		t.Errorf("the first look says valid %t, context alive %t:\n%v", look[0].Valid, look[0].Live, p)
	case end[0].Err == "":
		t.Errorf("the term has ended without a reason:\n%v", p)
	}
}

func (r *run) note(x *contest, p *pause) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pauses == nil {
		r.pauses, r.words = map[string]int{}, map[string]int{}
	}
	r.pauses[x.cfg.Mode]++
	r.length = append(r.length, p.resumed-p.stopped)
	r.late = append(r.late, p.late())
	r.lift = append(r.lift, p.told(checked, p.nextToken, nil)[0].At-p.told(started, p.nextToken, nil)[0].At)
	r.words[p.told(ended, p.oldToken, nil)[0].Err]++
	if p.lookFirst {
		r.looks++
	} else if x.cfg.Mode == "single" {
		r.single = append(r.single, p)
	}
}

// late is how long after the end of the lease the next term began.
func (p *pause) late() time.Duration { return p.told(started, p.nextToken, nil)[0].At - p.leaseEnd }

// typical is the pause after which the next term began neither early nor late.
func (r *run) typical(t *testing.T) *pause {
	t.Helper()
	if len(r.single) == 0 {
		t.Fatal("too few pauses for a -timeline: none in single")
	}
	slices.SortFunc(r.single, func(a, b *pause) int { return cmp.Compare(a.late(), b.late()) })
	return r.single[len(r.single)/2]
}

// judge looks at all that was told in an election, and at its registers.
func (r *run) judge(t *testing.T, w *world, x *contest) {
	t.Helper()
	checkRefusals(t, x.lines)
	for _, l := range staleActs(x.lines) {
		r.stale[l.Resource].add(l)
	}
	taken, down := w.checkOrder(interrupted, t, x)
	r.taken, r.down = r.taken+taken, r.down+down
	for _, l := range x.lines {
		if l.Kind == ended && l.Err != "resigned" {
			r.terms++
		}
	}
}

// report logs the table, and fails the test unless it is as it must be.
func (r *run) report(t *testing.T, w *world) {
	t.Helper()
	n := r.pauses["single"] + r.pauses["quorum"]
	if n != *pauses {
		t.Fatalf("%d pauses, want %d", n, *pauses)
	}
	for _, name := range resourceNames {
		c := r.stale[name]
		if c.openTried < n || c.openAccepted < n || c.guardedTried < n || c.guardedAccepted > 0 || c.failed > 0 {
			t.Errorf("%s: %+v in %d pauses", name, *c, n)
		}
	}
	if want := n * len(resourceNames); r.down < want {
		t.Errorf("without a guard tokens went down %d times, want %d", r.down, want)
	}
	t.Logf("%d pauses of a leader between check and write, TTL %v, %d in single and %d in quorum, in %v\n%s\n%v%s",
		n, ttl, r.pauses["single"], r.pauses["quorum"], time.Since(r.began).Round(100*time.Millisecond),
		w.versions(interrupted), r.stale, r.facts(n))
}

func (r *run) facts(n int) string {
	var words []string
	for word, n := range r.words {
		words = append(words, fmt.Sprintf("%s %d", word, n))
	}
	slices.Sort(words)
	return fmt.Sprintf(`SIGSTOP to SIGCONT:                %v
end of the lease to the next term: %v
from there to work, guards raised: %v
the old term ended as:             %s
at the first look after waking:    not valid and context done: %d of %d, %d of them before it wrote
terms that were lost:              %d, of which without a pause: %d
accepted by guards, in order:      %d acts; without a guard the token went down %d times
`, r.length, r.late, r.lift, strings.Join(words, ", "), n, n, r.looks, r.terms, r.terms-n, r.taken, r.down)
}

// dist is a sample of durations.
type dist []time.Duration

func (d dist) String() string {
	s := slices.Sorted(slices.Values(d))
	at := func(q float64) time.Duration { return s[int(q*float64(len(s)-1))].Round(100 * time.Microsecond) }
	return fmt.Sprintf("min %v, median %v, p90 %v, max %v", at(0), at(0.5), at(0.9), at(1))
}
