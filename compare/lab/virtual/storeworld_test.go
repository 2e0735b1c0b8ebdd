package virtual

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// inStore runs f in a lab with a leader.
func inStore(t *testing.T, s Spec, f func(t *testing.T, l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.Seed, s.TTL, s.Candidates = 1, time.Second, 3
		l, err := newLab(s)
		if err != nil {
			t.Fatal(err)
		}
		l.start()
		l.sleep(s.TTL)
		f(t, l)
		if err := l.stop(); err != nil {
			t.Error(err)
		}
	})
}

func inSingle(t *testing.T, f func(t *testing.T, l *lab, p *place)) {
	t.Helper()
	inStore(t, Spec{Mode: "single", Masters: 1, Fault: "flushall"}, func(t *testing.T, l *lab) { f(t, l, l.places[0]) })
}

// holds checks what a master stores of the election.
func (l *lab) holds(t *testing.T, p *place, lease, record bool) {
	t.Helper()
	keys := p.primary.Keys()
	if slices.Contains(keys, l.keys.Lease) != lease || slices.Contains(keys, l.keys.Record) != record {
		t.Errorf("%s holds %v, want the lease: %v, and the record: %v", p.name, keys, lease, record)
	}
}

func TestMastersForget(t *testing.T) {
	for _, tt := range []struct {
		what          string
		do            func(w fault.StoreWorld) error
		lease, record bool
	}{
		{"nothing", func(fault.StoreWorld) error { return nil }, true, true},
		{"flush", func(w fault.StoreWorld) error { return w.Flush(0) }, false, false},
		{"lease", func(w fault.StoreWorld) error { return w.Forget(0) }, false, true},
		{"lease and record", func(w fault.StoreWorld) error { return w.Evict(0, true) }, false, false},
		{"lease evicted", func(w fault.StoreWorld) error { return w.Evict(0, false) }, false, true},
		{"restart", func(w fault.StoreWorld) error { return w.Restart(0, fault.NoData) }, false, false},
		{"restart with all", func(w fault.StoreWorld) error { return w.Restart(0, fault.AllData) }, true, true},
		{"a replica of nothing", func(w fault.StoreWorld) error { return w.Refuse(0, fault.EmptyPrimary) }, false, false},
		{"a clock ahead", func(w fault.StoreWorld) error { return w.Jump(0, 1.1) }, false, true},
		{"a clock back", func(w fault.StoreWorld) error { return w.Jump(0, -1.1) }, true, true},
	} {
		inSingle(t, func(t *testing.T, l *lab, p *place) {
			before := p.primary.RunID()
			if err := tt.do(l); err != nil {
				t.Errorf("%s: %v", tt.what, err)
			}
			l.holds(t, p, tt.lease, tt.record)
			if again := p.primary.RunID() != before; again != strings.HasPrefix(tt.what, "restart") {
				t.Errorf("%s: restarted is %v", tt.what, again)
			}
		})
	}
}

func TestStop(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		if err := l.Stop(0); err != nil {
			t.Error(err)
		}
		l.Pass(1.2)
		if leader := l.Leader(); leader != "" {
			t.Errorf("%s leads without a master", leader)
		}
	})
}

// TestSnapshots: what comes back is of the instant at which it was taken.
func TestSnapshots(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		if err := l.Snapshot(0); err != nil {
			t.Fatal(err)
		}
		old, _ := p.primary.Get(l.keys.Lease)
		if err := l.Flush(0); err != nil {
			t.Fatal(err)
		}
		if err := l.Restart(0, fault.SavedData); err != nil {
			t.Fatal(err)
		}
		if lease, _ := p.primary.Get(l.keys.Lease); lease != old || lease == "" {
			t.Errorf("the lease is %q, was %q", lease, old)
		}
	})
}

// TestPromote: everybody reaches the replica, but who is left out; and the server
// before it can come back.
func TestPromote(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		leader, first := l.Leader(), p.primary
		reach := func(when, want string) {
			t.Helper()
			for _, c := range l.candidates {
				master := want
				if want == "both" {
					if master = "replica"; c.name == leader {
						master = "first"
					}
				}
				before := first.Commands(c.name, "")
				l.Pass(1.5) // a command each
				if got := first.Commands(c.name, "") > before; got != (master == "first") {
					t.Errorf("%s: does %s reach the first one? %v", when, c.name, got)
				}
			}
		}
		if err := l.Snapshot(0); err != nil {
			t.Fatal(err)
		}
		if err := l.Promote(0, leader); err != nil {
			t.Fatal(err)
		}
		l.Pass(0.1)
		reach("promoted", "both")
		if err := l.Follow(leader, 0); err != nil {
			t.Fatal(err)
		}
		l.Pass(0.1)
		reach("followed", "replica")
		if err := l.Demote(0); err != nil {
			t.Fatal(err)
		}
		if err := l.Promote(0, ""); err != nil || p.primary != first {
			t.Fatalf("after the second promotion it is another server, %v", err)
		}
		l.Pass(0.1)
		reach("back", "first")
	})
}

func TestRefresh(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, p *place) {
		leader := l.Leader()
		if err := l.Refresh(); err != nil {
			t.Fatal(err)
		}
		alive := 0
		for _, c := range l.candidates {
			if !c.killed {
				alive++
			}
		}
		if len(l.candidates) != 5 || alive != 3 {
			t.Errorf("%d of %d candidates are alive", alive, len(l.candidates))
		}
		l.Pass(1)
		if now := l.Leader(); now != leader {
			t.Errorf("%s led, and now %s does", leader, now)
		}
		if err := l.Kill(leader); err != nil {
			t.Fatal(err)
		}
		l.Pass(1.2)
		if now := l.Leader(); now != "candidate-4" && now != "candidate-5" {
			t.Errorf("%q leads, want a new one", now)
		}
	})
}

func TestCutFrom(t *testing.T) {
	inStore(t, Spec{Mode: "quorum", Masters: 3, Fault: "flushall"}, func(t *testing.T, l *lab) {
		leader := l.Leader()
		if err := l.CutFrom(leader, 1); err != nil {
			t.Fatal(err)
		}
		l.Pass(1.1)
		for i, p := range l.places {
			l.holds(t, p, i != 1, true)
		}
		if err := l.HealFrom(leader, 1); err != nil {
			t.Fatal(err)
		}
		l.Pass(1)
		l.holds(t, l.places[1], true, true)
		if now := l.Leader(); now != leader {
			t.Errorf("%s led, and now %q does", leader, now)
		}
		var notes []string
		for _, ev := range l.rec.events {
			if ev.Kind == history.Note && ev.Actor == "master-2" {
				notes = append(notes, ev.Name)
			}
		}
		if want := []string{"cut off from " + leader, "within reach of " + leader}; !slices.Equal(notes, want) {
			t.Errorf("the history says %q, want %q", notes, want)
		}
	})
}

func TestStoreWorldErrors(t *testing.T) {
	inSingle(t, func(t *testing.T, l *lab, _ *place) {
		leader := l.Leader()
		for want, err := range map[string]error{
			"master 1: there are 1":                 l.Flush(1),
			"master -1: there are 1":                l.Stop(-1),
			"master 2: there are 1":                 l.Restart(2, fault.SavedData),
			"master 3: there are 1":                 l.Restart(3, fault.NoData),
			"master 4: there are 1":                 l.Jump(4, 1),
			"master 5: there are 1":                 l.Forget(5),
			"master 6: there are 1":                 l.Snapshot(6),
			"master 7: there are 1":                 l.Demote(7),
			"master 8: there are 1":                 l.Promote(8, ""),
			"master 9: there are 1":                 l.CutFrom(leader, 9),
			"master 10: there are 1":                l.HealFrom(leader, 10),
			"master 11: there are 1":                l.Follow(leader, 11),
			"master 12: there are 1":                l.KillClients(12),
			"master 13: there are 1":                l.PauseClients(13, 1),
			"master 14: there are 1":                l.Refuse(14, fault.NoReplicas),
			"master 15: there are 1":                l.Accept(15),
			"master 16: there are 1":                l.Evict(16, true),
			"master-1: there is no snapshot of":     l.Refuse(0, fault.StalePrimary),
			`candidate "s": there is none alive`:    l.CutFrom("s", 0),
			`candidate "t": there is none alive`:    l.HealFrom("t", 0),
			`candidate "u": there is none alive`:    l.Follow("u", 0),
			"master-1: there is no snapshot of it":  l.Promote(0, ""),
			"master-1: there is no snapshot of it ": l.Restart(0, fault.SavedData),
			"master-1: was never replaced":          l.Demote(0),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), strings.TrimSpace(want)) {
				t.Errorf("error is %v, want %q", err, want)
			}
		}
		if now := l.Leader(); now != leader {
			t.Errorf("though nothing happened, %q leads and not %s", now, leader)
		}
	})
}
