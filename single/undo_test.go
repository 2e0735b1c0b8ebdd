package single_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/internal/simnet"
	"incumbent/single"
)

// A bid that fails half-way is undone, and the undo announces a release. The
// candidate that hears itself must not bid again at once.
func TestD_UndoneBidsDoNotWakeTheirOwnCandidate(t *testing.T) {
	srv := redistest.StartT(t, redisproc.Options{})
	admin := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	defer admin.Close()
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "u", "on", ">p", "~*", "&*", "+@all", "-pexpire").Err(); err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: srv.Addr(), Username: "u", Password: "p"})
	defer c.Close()
	st, err := single.New(c, "job", single.Options{Logger: quiet, GuardsOff: election.AllGuards})
	if err != nil {
		t.Fatal(err)
	}
	var bids atomic.Int64
	e, _ := election.New(st, election.Options{Logger: quiet, Observer: func(ev election.Event) {
		if ev.Kind == election.BidRefused {
			bids.Add(1)
		}
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err = e.Campaign(ctx); !errors.Is(err, election.ErrNoPermission) {
		t.Errorf("got %v, want %v", err, election.ErrNoPermission)
	}
	if bids.Load() > 10 {
		t.Errorf("%d bids in 2 s: a loop without a pause", bids.Load())
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// A release whose connection breaks is sent once more: whether or not it was executed,
// all others would else wait for the lease's end.
func TestReleaseIsSentAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		st := w.store("a")
		for i := range 3 {
			g, err := st.Acquire(t.Context(), election.Bid{Value: fmt.Sprint("v", i), Candidate: election.Candidate{ID: "a"}, TTL: time.Minute})
			if err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
			if i > 0 { // the first one makes sure that scripts are loaded
				w.m.DropReply("a", "EVALSHA", 1, simnet.Reset)
			}
			if r, err := st.Release(t.Context(), g); err != nil || r.Waiting != min(i, 1) { // nobody waits, as far as is known
				t.Errorf("round %d: %d wait, %v", i, r.Waiting, err)
			}
		}
		// What another one holds by then is left alone.
		mine, err := st.Acquire(t.Context(), election.Bid{Value: "mine", Candidate: election.Candidate{ID: "a"}, TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Do("SET", leaseKey, "theirs", "PX", "60000"); err != nil {
			t.Fatal(err)
		}
		w.m.DropReply("a", "EVALSHA", 1, simnet.Reset)
		if _, err := st.Release(t.Context(), mine); err != nil {
			t.Errorf("release of what another one has got since, perhaps: %v", err)
		}
		if v, _ := w.m.Get(leaseKey); v != "theirs" {
			t.Errorf("the lease is now %q", v)
		}
	})
}

// A renewal that a hung server does not answer ends in time for another try, or at the
// timeout of the master if that is shorter.
func TestRenewalIsBounded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		st, err := single.New(w.Client("a", w.m, func(*redis.Options) {}), "job", single.Options{
			Logger: quiet, GuardsOff: election.AllGuards, Clock: election.RuntimeClock(), Timeout: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		for ttl, most := range map[time.Duration]time.Duration{2 * time.Second: 500 * time.Millisecond, time.Minute: time.Second} {
			g, err := st.Acquire(t.Context(), election.Bid{Value: ttl.String(), Candidate: election.Candidate{ID: "a"}, TTL: ttl})
			if err != nil {
				t.Fatal(err)
			}
			w.m.Hang()
			start := time.Now()
			_, err = st.Renew(t.Context(), g)
			if took := time.Since(start); !errors.Is(err, election.ErrUnreachable) || took > most+10*time.Millisecond || took < most-10*time.Millisecond {
				t.Errorf("TTL %s: %s, %v; want %s", ttl, took, err, most)
			}
			w.m.Resume()
			if _, err := st.Release(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
	})
}
