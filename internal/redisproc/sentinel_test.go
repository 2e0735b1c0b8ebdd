package redisproc_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

func TestSentinel(t *testing.T) {
	primary := redistest.StartT(t, redisproc.Options{})
	s := redistest.StartT(t, redisproc.Options{Sentinel: &redisproc.Sentinel{
		Name: "lab", Primary: primary.Addr(), Quorum: 1, DownAfter: time.Second, FailoverTimeout: time.Second,
	}})
	ask := func() {
		t.Helper()
		c := redis.NewSentinelClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		at, err := c.GetMasterAddrByName(ctx(t), "lab").Result()
		noErr(t, err)
		if got := at[0] + ":" + at[1]; got != primary.Addr() {
			t.Errorf("the primary is at %s, want %s", got, primary.Addr())
		}
	}
	ask()
	noErr(t, s.Kill())
	noErr(t, s.Restart(ctx(t)))
	ask()
}
