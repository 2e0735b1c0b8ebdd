package single_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
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
