package local

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/vote"
)

// stat is a number of INFO.
func (s *server) stat(t *testing.T, section, name string) int {
	t.Helper()
	info, err := s.info(t.Context(), section)
	noErr(t, err)
	n, err := strconv.Atoi(info[name])
	noErr(t, err)
	return n
}

// TestEvict: it is the server that evicts, and it chooses the lease.
func TestEvict(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{})
	l.quiet(t)
	s := l.places[0].primary
	before := s.stat(t, "stats", "evicted_keys")
	for i, both := range []bool{false, true} {
		noErr(t, s.direct.Set(t.Context(), l.keys.Lease, "x", time.Minute).Err())
		noErr(t, s.direct.HSet(t.Context(), l.keys.Record, "last", 1).Err())
		noErr(t, s.direct.PExpire(t.Context(), l.keys.Record, time.Hour).Err())
		noErr(t, l.Evict(0, both))
		l.holds(t, "evicted", s, false, !both)
		if got := s.stat(t, "stats", "evicted_keys") - before; got != 1+2*i {
			t.Errorf("it says that it has evicted %d keys, want %d", got, 1+2*i)
		}
		if life := s.direct.PTTL(t.Context(), l.keys.Record).Val(); !both && (life < 59*time.Minute || life > time.Hour) {
			t.Errorf("the record has %v left, want an hour", life)
		}
		noErr(t, s.direct.Set(t.Context(), "k", "v", 0).Err()) // there is memory again
		noErr(t, s.direct.Del(t.Context(), "k").Err())
	}
}

// TestRefuse: what each script answers at a master that refuses writes, and that it takes
// them again.
func TestRefuse(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{spares: 1})
	l.quiet(t)
	s := l.places[0].primary
	l.scene.playing.Name = "read-only"
	noErr(t, s.direct.Set(t.Context(), l.keys.Lease, "stale", time.Minute).Err())
	noErr(t, l.Snapshot(0))
	for _, tt := range []struct {
		why      fault.Refusal
		word     string
		holds    string // the lease's value
		gives    bool   // it lets renewals and releases through
		identity bool   // it is another server afterwards
	}{
		{fault.OutOfMemory, "OOM", "mine", true, false},
		{fault.NoReplicas, "NOREPLICAS", "mine", false, false},
		{fault.StalePrimary, "READONLY", "stale", false, true},
		{fault.EmptyPrimary, "READONLY", "", false, true},
	} {
		noErr(t, s.direct.Set(t.Context(), l.keys.Lease, "mine", time.Minute).Err())
		before := s.line(t)
		noErr(t, l.Refuse(0, tt.why))
		lease, err := s.direct.Get(t.Context(), l.keys.Lease).Result()
		if lease != tt.holds || err != nil && !errors.Is(err, redis.Nil) {
			t.Errorf("%s: the lease is %q, want %q; %v", tt.word, lease, tt.holds, err)
		}
		for script, err := range map[string]error{
			"renew":   l.script(t.Context(), "renew", lease, 60000, 1, 60000),
			"release": l.script(t.Context(), "release", lease, 0, "c"),
		} {
			if tt.holds != "" && (err == nil) != tt.gives || err != nil && !redis.HasErrorPrefix(err, tt.word) {
				t.Errorf("%s: %s answers %v", tt.word, script, err)
			}
		}
		if err := l.script(t.Context(), "acquire", "other", 60000, 0, "", 60000, "", 0, 60000, "rfne", ""); tt.holds != "stale" && !redis.HasErrorPrefix(err, tt.word) { // which has a record, so nothing is written
			t.Errorf("%s: a bid answers %v", tt.word, err)
		}
		if err := s.direct.Set(t.Context(), "k", "v", 0).Err(); !redis.HasErrorPrefix(err, tt.word) {
			t.Errorf("%s: SET answers %v", tt.word, err)
		}
		noErr(t, l.Accept(0))
		if now := s.line(t); (now != before) != tt.identity {
			t.Errorf("%s: master_replid2 was %s and is %s", tt.word, before, now)
		}
		noErr(t, s.direct.Set(t.Context(), "k", "v", 0).Err())
		noErr(t, s.direct.FlushAll(t.Context()).Err())
	}
}

// TestRefuseHalfway: a server that became a replica, and could not catch up, is a primary
// again once it is to take writes.
func TestRefuseHalfway(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{spares: 1, Candidates: 1})
	l.quiet(t)
	s, spare := l.places[0].primary, l.spares[0]
	noErr(t, spare.proc.Pause())
	whole := l.scene.ctx
	ctx, cancel := context.WithTimeout(whole, 300*time.Millisecond)
	defer cancel()
	l.scene.ctx = ctx
	if err := l.Refuse(0, fault.EmptyPrimary); err == nil {
		t.Error("it followed a server that hangs")
	}
	l.scene.ctx = whole
	noErr(t, spare.proc.Resume())
	if err := s.direct.Set(t.Context(), "k", "v", 0).Err(); !redis.HasErrorPrefix(err, "READONLY") {
		t.Errorf("half-way: SET answers %v", err)
	}
	if l.noted("becomes a replica") {
		t.Error("it is said to have become one")
	}
	noErr(t, l.Accept(0))
	noErr(t, s.direct.Set(t.Context(), "k", "v", 0).Err())
	if !l.noted("takes writes again") {
		t.Error("that it takes writes again is not said")
	}
}

// noted reports whether the lab has said something that contains text.
func (l *Lab) noted(text string) bool {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	return slices.ContainsFunc(l.rec.lines, func(line Line) bool {
		return line.Kind == history.Note && strings.Contains(line.Name, text)
	})
}

// line is the line of replication that a server was promoted from.
func (s *server) line(t *testing.T) string {
	t.Helper()
	info, err := s.replication(t.Context())
	noErr(t, err)
	return info["master_replid2"]
}

// script runs a script of the library at the first master.
func (l *Lab) script(ctx context.Context, name string, args ...any) error {
	for _, s := range vote.Scripts() {
		if s.Name == name {
			return l.places[0].primary.direct.EvalSha(ctx, s.SHA, []string{l.keys.Lease, l.keys.Record}, args...).Err()
		}
	}
	return errors.New("no such script")
}

// TestAcceptLater: a master that hangs, or whose clients are paused, takes writes as soon as
// it goes on.
func TestAcceptLater(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{Candidates: 1})
	s := l.places[0].primary
	noErr(t, l.Refuse(0, fault.NoReplicas))
	noErr(t, l.Hang(0))
	noErr(t, l.Accept(0))
	noErr(t, l.Resume(0))
	noErr(t, s.direct.Set(t.Context(), "k", "v", 0).Err())
	noErr(t, l.Refuse(0, fault.NoReplicas))
	if err := l.Flush(0); !errors.Is(err, fault.ErrMissed) || l.noted("flushed") {
		t.Errorf("flush of a master that refuses writes: %v", err)
	}
	noErr(t, l.PauseClients(0, 0.3))
	noErr(t, l.Accept(0))
	noErr(t, s.direct.Set(t.Context(), "k", "v", 0).Err())
	noErr(t, l.Refuse(0, fault.OutOfMemory))
	noErr(t, l.Restart(0, fault.NoData)) // forgets what it was told
	noErr(t, s.direct.Set(t.Context(), "k", "v", 0).Err())
	noErr(t, l.Stop(0))
	noErr(t, l.Accept(0))
}

// TestPauseClients: what was sent is executed in the end, unless its client has given up.
func TestPauseClients(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{Candidates: 1})
	l.quiet(t)
	s := l.places[0].primary
	noErr(t, s.direct.Set(t.Context(), "short", "v", 100*time.Millisecond).Err())
	begin := time.Now()
	noErr(t, l.PauseClients(0, 0.5))
	if err := l.Flush(0); !errors.Is(err, fault.ErrMissed) {
		t.Errorf("flush of a master whose clients are paused: %v", err)
	}
	hasty, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.direct.Set(hasty, "gone", "v", 0).Err(); !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "timeout") {
		t.Errorf("a client in a hurry: %v", err)
	}
	noErr(t, s.direct.Set(t.Context(), "kept", "v", 0).Err())
	if d := time.Since(begin); d < 500*time.Millisecond {
		t.Errorf("it was paused for %v only", d)
	}
	if keys := s.direct.Keys(t.Context(), "*").Val(); !slices.Contains(keys, "kept") || slices.Contains(keys, "gone") || slices.Contains(keys, "short") {
		t.Errorf("it holds %v", keys)
	}
}

// TestKillClients: all connections are gone, and the leader makes new ones.
func TestKillClients(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{})
	leader, s := l.Leader(), l.places[0].primary
	before := s.direct.ClientList(t.Context()).Val()
	noErr(t, l.KillClients(0))
	noErr(t, l.Wait(t.Context(), l.opt.TTL)) // a term must be renewed meanwhile
	after := s.direct.ClientList(t.Context()).Val()
	for line := range strings.Lines(before) {
		id, _, _ := strings.Cut(line, " ")
		if own := strings.Contains(line, "cmd=client"); !own && strings.Contains(after, id+" ") {
			t.Errorf("it is still there: %s", line)
		}
	}
	if now := l.Leader(); now != leader {
		t.Errorf("%s led, and %q leads", leader, now)
	}
}

// TestRestartWithFiles: a snapshot comes from an RDB file, and all data from an append-only
// one: the server itself says so.
func TestRestartWithFiles(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{})
	l.quiet(t)
	s := l.places[0].primary
	l.scene.playing.Name = "restart-old"
	noErr(t, s.direct.Set(t.Context(), "k", "old", 0).Err())
	noErr(t, l.Snapshot(0))
	l.scene.playing.Name = "restart-aof"
	noErr(t, l.keepLogs(t.Context()))
	noErr(t, s.direct.Set(t.Context(), "k", "new", 0).Err())
	restarted := func(with fault.Data, want, file string) {
		t.Helper()
		noErr(t, l.Restart(0, with))
		if got := s.direct.Get(t.Context(), "k").Val(); got != want {
			t.Errorf("after a restart with %d the key is %q, want %q", with, got, want)
		}
		if log := s.proc.LogTail(12); file != "" && !strings.Contains(log, file) {
			t.Errorf("it does not say %q: %s", file, log)
		}
	}
	restarted(fault.AllData, "new", "DB loaded from append only file")
	restarted(fault.SavedData, "old", "DB loaded from disk")
	restarted(fault.NoData, "", "")
	noErr(t, l.Stop(0))
	if err := l.Restart(0, fault.AllData); !errors.Is(err, fault.ErrMissed) {
		t.Errorf("restart of a dead master with all its data: %v", err)
	}
}
