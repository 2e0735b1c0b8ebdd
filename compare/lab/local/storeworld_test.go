package local

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/redisproc/redistest"
)

// inLab opens a lab in which somebody leads.
func inLab(t *testing.T, o Options) *Lab {
	t.Helper()
	redistest.Require(t)
	o.TTL, o.Proxies, o.Stderr = time.Second, true, os.Stderr
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	l, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	l.scene = &scene{ctx: ctx, playing: fault.Fault{Name: "failover"}}
	if _, _, err := l.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	return l
}

// holds checks what a server stores of the election.
func (l *Lab) holds(t *testing.T, when string, s *server, lease, record bool) {
	t.Helper()
	keys, err := s.direct.Keys(t.Context(), "*").Result()
	if err != nil || slices.Contains(keys, l.keys.Lease) != lease || slices.Contains(keys, l.keys.Record) != record {
		t.Errorf("%s: it holds %v, %v; want the lease: %v, and the record: %v", when, keys, err, lease, record)
	}
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// quiet kills all candidates, so that nobody writes any more.
func (l *Lab) quiet(t *testing.T) {
	t.Helper()
	for _, name := range l.Candidates() {
		noErr(t, l.Kill(name))
	}
}

// TestMastersForget: leases last for a minute, so that only what is done ends them.
func TestMastersForget(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{})
	l.quiet(t)
	s := l.places[0].primary
	put := func() {
		t.Helper()
		noErr(t, s.direct.Set(t.Context(), l.keys.Lease, "x", time.Minute).Err())
		noErr(t, s.direct.HSet(t.Context(), l.keys.Record, "last", 1).Err())
	}
	l.scene.playing.Name = "restart-old"
	put()
	noErr(t, l.Snapshot(0))
	for _, tt := range []struct {
		what          string
		do            func() error
		lease, record bool
	}{
		{"nothing", func() error { return nil }, true, true},
		{"flush", func() error { return l.Flush(0) }, false, false},
		{"lease", func() error { return l.Forget(0) }, false, true},
		{"lease evicted", func() error { return l.Evict(0, false) }, false, true},
		{"lease and record", func() error { return l.Evict(0, true) }, false, false},
		{"restart", func() error { return l.Restart(0, fault.NoData) }, false, false},
		{"restart with a snapshot", func() error { return errors.Join(l.Flush(0), l.Restart(0, fault.SavedData)) }, true, true},
	} {
		put()
		pid := s.proc.PID()
		noErr(t, tt.do())
		l.holds(t, tt.what, s, tt.lease, tt.record)
		if again := s.proc.PID() != pid; again != strings.HasPrefix(tt.what, "restart") {
			t.Errorf("%s: restarted is %v", tt.what, again)
		}
	}
	noErr(t, l.Hang(0))
	if err := l.Flush(0); !errors.Is(err, fault.ErrMissed) {
		t.Errorf("flush of a server that hangs: %v", err)
	}
	noErr(t, l.FlushScripts(0))
	noErr(t, l.Resume(0))
	noErr(t, l.Stop(0))
	if err := l.Snapshot(0); !errors.Is(err, fault.ErrMissed) {
		t.Errorf("snapshot of a dead server: %v", err)
	}
}

// TestPromote: everybody reaches the replica, which lags, but who is left out; and the
// server before it can come back.
func TestPromote(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{spares: 1, ReplicaAcks: 1})
	p, leader := l.places[0], l.Leader()
	first, second := p.primary, p.replica
	noErr(t, l.Snapshot(0))
	write := first.direct.Conn() // WAIT counts for what was written on its connection
	noErr(t, write.Set(t.Context(), "later", 1, 0).Err())
	if n, err := write.Wait(t.Context(), 1, 100*time.Millisecond).Result(); n != 0 || err != nil {
		t.Errorf("%d replicas acknowledge, %v; want none after a snapshot", n, err)
	}
	noErr(t, write.Close())
	noErr(t, l.Promote(0, leader))
	if p.primary != second || p.former != first || p.replica == nil {
		t.Error("the primary is not the replica, or has none")
	}
	if n, err := second.direct.Exists(t.Context(), "later").Result(); n != 0 || err != nil {
		t.Errorf("the replica did not lag: %d, %v", n, err)
	}
	if n, err := second.direct.Wait(t.Context(), 1, time.Second).Result(); n < 1 || err != nil {
		t.Errorf("the new primary has %d replicas, %v", n, err)
	}
	leaderAt := func(want *server) {
		t.Helper()
		if got := l.proxies[l.fleet.find(leader).slot][0].Target(); got != want.addr {
			t.Errorf("the leader reaches %s, want %s", got, want.addr)
		}
	}
	for _, c := range l.fleet.running() {
		if at := l.proxies[c.slot][0].Target(); c.name != leader && at != second.addr {
			t.Errorf("%s reaches %s, want %s", c.name, at, second.addr)
		}
	}
	leaderAt(first)
	noErr(t, l.Follow(leader, 0))
	leaderAt(second)
	noErr(t, second.direct.Set(t.Context(), "between", 1, 0).Err())
	noErr(t, l.Demote(0))
	noErr(t, second.direct.Set(t.Context(), "last", 1, 0).Err())
	noErr(t, l.Promote(0, ""))
	if n, err := first.direct.Exists(t.Context(), "later", "between", "last").Result(); p.primary != first || n != 1 || err != nil {
		t.Errorf("back at the first one: %v, with %d of 3 keys, want that in between only; %v", p.primary == first, n, err)
	}
	leaderAt(first)
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{})
	leader, before := l.Leader(), l.Candidates()
	noErr(t, l.Refresh())
	after := l.Candidates()
	if len(after) != 3 || l.Leader() != leader {
		t.Errorf("%v became %v; %s led, and now %q does", before, after, leader, l.Leader())
	}
	for _, name := range after {
		if name != leader && slices.Contains(before, name) {
			t.Errorf("%v became %v", before, after)
		}
	}
}

func TestStoreWorldErrors(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{Candidates: 1})
	leader := l.Leader()
	for want, err := range map[string]error{
		"master 1: there are 1":             l.Flush(1),
		"master -1: there are 1":            l.Stop(-1),
		"master 2: there are 1":             l.Restart(2, fault.SavedData),
		"master 4: there are 1":             l.Jump(4, 1),
		"master 5: there are 1":             l.Forget(5),
		"master 6: there are 1":             l.Snapshot(6),
		"master 7: there are 1":             l.Demote(7),
		"master 8: there are 1":             l.Promote(8, ""),
		"master 9: there are 1":             l.CutFrom(leader, 9),
		"master 10: there are 1":            l.Hang(10),
		"master 11: there are 1":            l.Follow(leader, 11),
		"master 12: there are 1":            l.FlushScripts(12),
		"master 13: there are 1":            l.Resume(13),
		"master 14: there are 1":            l.KillClients(14),
		"master 15: there are 1":            l.PauseClients(15, 1),
		"master 16: there are 1":            l.Refuse(16, fault.NoReplicas),
		"master 17: there are 1":            l.Accept(17),
		"master 18: there are 1":            l.Evict(18, true),
		`candidate "s" does not run`:        l.CutFrom("s", 0),
		`candidate "t" does not run`:        l.Slow("t", 1),
		`candidate "u" does not run`:        l.Follow("u", 0),
		`candidate "v" does not run`:        l.LoseReply("v", 0, true),
		"master-1: there is no snapshot":    l.Promote(0, ""),
		"master-1: there is no snapshot of": l.Restart(0, fault.SavedData),
		"master-1: was never replaced":      l.Demote(0),
		"suspend its own host":              l.Suspend(leader),
		"without libfaketime":               l.Jump(0, 1),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	if now := l.Leader(); now != leader {
		t.Errorf("though nothing happened, %q leads and not %s", now, leader)
	}
}

// TestServersOfOthers are left alone.
func TestServersOfOthers(t *testing.T) {
	t.Parallel()
	owner := inLab(t, Options{Candidates: 1, Election: "other"})
	l := inLab(t, Options{Candidates: 1, Servers: []string{owner.Servers()[0].Addr()}})
	l.scene.playing.Name = "restart-aof"
	for _, err := range []error{
		l.Flush(0), l.Stop(0), l.Restart(0, fault.NoData), l.Restart(0, fault.AllData), l.Hang(0), l.Snapshot(0), l.Evict(0, true),
		l.KillClients(0), l.PauseClients(0, 1), l.Refuse(0, fault.OutOfMemory), l.Accept(0), l.keepLogs(t.Context()),
	} {
		if !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("error is %v", err)
		}
	}
	l.Close()
	if owner.Leader() == "" || len(l.Servers()) != 0 {
		t.Error("the server was harmed")
	}
}

// TestSchedule plays several faults in one run, one on top of the other.
func TestSchedule(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	s := fault.Schedule{Name: "evening", Steps: []fault.Step{
		{Fault: "hung-master"}, {Fault: "crash", After: 1}, {Fault: "failover", After: 2}, {Fault: "restart-empty", After: 1},
	}}
	p := Player{Stderr: os.Stderr}
	spec := Spec{Mode: "quorum", Masters: 3, Fault: s.Name, Schedule: &s, TTL: 500 * time.Millisecond, Candidates: 3}
	err := p.Play(t.Context(), []Spec{spec}, func(_ int, run history.Run, err error) {
		if err != nil || len(run.Steps) < 3 || run.Steps[0] != "hung-master" {
			t.Errorf("steps %v, %v", run.Steps, err)
		}
	})
	noErr(t, err)
}
