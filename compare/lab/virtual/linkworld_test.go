package virtual

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/compare/history"
	"incumbent/internal/simnet"
)

// keeps lets time pass and reports whether the leader still leads.
func (l *lab) keeps(leader string, ttls float64) bool {
	l.Pass(ttls)
	return l.Leader() == leader
}

// notes are what the history says of an actor.
func (l *lab) notes(actor string) (names []string) {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	for _, ev := range l.rec.events {
		if ev.Kind == history.Note && ev.Actor == actor {
			names = append(names, ev.Name)
		}
	}
	return names
}

func TestSlow(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, _ *place) {
		leader := l.Leader()
		if err := l.Slow(leader, 0.05); err != nil || !l.keeps(leader, 2) {
			t.Errorf("on links that are a little slower: error %v, %q leads", err, l.Leader())
		}
		if err := l.Slow(leader, 1); err != nil || l.keeps(leader, 2) {
			t.Errorf("on links that are much slower: error %v, %q leads", err, l.Leader())
		}
		if err := l.Slow(leader, 0); err != nil {
			t.Error(err)
		}
		notes := l.notes(leader)
		if want := []string{"its links are slower by 50ms each way", "its links are slower by 1s each way", "its links are as fast as before"}; !contains(notes, want) {
			t.Errorf("the history says %q", notes)
		}
	})
}

// contains reports whether a list has all of want.
func contains(list, want []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(list, s) })
}

func TestLose(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, _ *place) {
		leader := l.Leader()
		if err := l.Lose(leader, 0.95); err != nil || l.keeps(leader, 3) {
			t.Errorf("where nearly all is lost: error %v, %q leads", err, l.Leader())
		}
		if err := l.Lose(leader, 0); err != nil {
			t.Error(err)
		}
		if notes := l.notes(leader); !contains(notes, []string{"its links lose 95 % of what they carry", "its links are as good as before"}) {
			t.Errorf("the history says %q", notes)
		}
	})
}

// TestLoseReply: the renewal is executed, and its sender does not know.
func TestLoseReply(t *testing.T) {
	for _, reset := range []bool{true, false} {
		inSingle(t, func(t *testing.T, l *lab, p *place) {
			leader := l.Leader()
			if err := l.LoseReply(leader, 0, reset); err != nil {
				t.Fatal(err)
			}
			before := p.primary.Commands(leader, "EVALSHA")
			failed := 0
			for range 100 {
				l.Pass(0.01)
				failed = count(l.notes(leader), "renew-failed")
				if failed > 0 {
					break
				}
			}
			if failed != 1 || p.primary.Commands(leader, "EVALSHA") == before {
				t.Errorf("reset %v: %d renewals failed", reset, failed)
			}
			if err := l.HealFrom(leader, 0); err != nil || !l.keeps(leader, 1) {
				t.Errorf("reset %v: error %v, %q leads", reset, err, l.Leader())
			}
		})
	}
}

func count(list []string, s string) (n int) {
	for _, have := range list {
		if have == s {
			n++
		}
	}
	return n
}

func TestHang(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		if err := l.Hang(0); err != nil {
			t.Fatal(err)
		}
		before := p.primary.Commands("", "EVALSHA")
		l.Pass(1.2)
		if l.Leader() != "" || p.primary.Commands("", "EVALSHA") != before {
			t.Errorf("%q leads, by a master that hangs", l.Leader())
		}
		if err := l.Resume(0); err != nil {
			t.Error(err)
		}
		l.Pass(0.01)
		if p.primary.Commands("", "EVALSHA") == before {
			t.Error("it executed nothing of what had come")
		}
	})
}

func TestFlushScripts(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		if err := l.FlushScripts(0); err != nil || !l.keeps(l.Leader(), 1) {
			t.Error(err, l.Leader())
		}
		if p.primary.Commands("", "EVAL") == 0 {
			t.Error("all scripts were still known")
		}
	})
}

// TestSuspend: the clock goes on, and the term is over when the host wakes up, though
// its timers think that there is time.
func TestSuspend(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, _ *place) {
		leader := l.Leader()
		if err := l.Suspend(leader); err != nil || l.keeps(leader, 1.1) {
			t.Errorf("error %v, %q leads", err, l.Leader())
		}
		successor := l.Leader()
		if err := l.Wake(leader); err != nil || !l.keeps(successor, 1.1) || successor == "" {
			t.Errorf("error %v, %q led and %q leads", err, successor, l.Leader())
		}
	})
}

// TestTimersStandStill: a timer has as long to go after a suspension as before.
func TestTimersStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := simnet.New(1, simnet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		ts, begin := &timers{source: w.Source("test")}, time.Now()
		var mu sync.Mutex
		var fired []time.Duration
		note := func() {
			mu.Lock()
			defer mu.Unlock()
			fired = append(fired, time.Since(begin).Round(time.Millisecond))
		}
		ts.after(500*time.Millisecond, note)
		ts.after(3*time.Second, note)
		stop := ts.after(2*time.Second, note)
		time.Sleep(time.Second)
		ts.suspend()
		ts.after(time.Second, note) // set by what was still under way
		time.Sleep(10 * time.Second)
		if !stop() || stop() {
			t.Error("a timer that stands still is stopped once")
		}
		ts.resume()
		ts.resume()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := []time.Duration{500 * time.Millisecond, 12 * time.Second, 13 * time.Second}
		if !slices.Equal(fired, want) || len(ts.pending) != 0 {
			t.Errorf("fired after %v, want %v; %d are left", fired, want, len(ts.pending))
		}
	})
}

func TestLinkWorldErrors(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, _ *place) {
		for want, err := range map[string]error{
			`candidate "s"`:      l.Slow("s", 1),
			`candidate "t"`:      l.Lose("t", 0.5),
			`candidate "u"`:      l.LoseReply("u", 0, true),
			"master 1: there":    l.LoseReply(l.Leader(), 1, true),
			"master 2: there":    l.Hang(2),
			"master 3: there":    l.Resume(3),
			"master 4: there":    l.FlushScripts(4),
			`candidate "suspnd"`: l.Suspend("suspnd"),
			`candidate "wake"`:   l.Wake("wake"),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error is %v, want %q", err, want)
			}
		}
		if got := l.Candidates(); len(got) != 3 {
			t.Errorf("candidates are %v", got)
		}
	})
}
