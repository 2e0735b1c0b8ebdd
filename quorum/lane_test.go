package quorum

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"incumbent/internal/vote"
)

// Calls of one term at one master: A hangs, B's turn times out, C must not overtake A.
func TestLaneHoldsWhenATurnTimesOut(t *testing.T) {
	var cs []redis.UniversalClient
	for _, a := range []string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"} {
		c := redis.NewClient(&redis.Options{
			Addr: a, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		defer c.Close()
		cs = append(cs, c)
	}
	s, err := New(cs, "job", Options{})
	if err != nil {
		t.Fatal(err)
	}
	tm := newTerm(3)
	free := make(chan struct{})
	a := s.newRound(tm, statusRenewed, time.Hour, func(context.Context, int, *vote.Master) (vote.Reply, error) {
		<-free
		return vote.Reply{}, nil
	})
	b := s.newRound(tm, statusRenewed, time.Millisecond, func(context.Context, int, *vote.Master) (vote.Reply, error) {
		t.Error("B ran")
		return vote.Reply{}, nil
	})
	overtook := make(chan bool, 1)
	c := s.newRound(tm, statusReleased, 300*time.Millisecond, func(context.Context, int, *vote.Master) (vote.Reply, error) {
		overtook <- true
		return vote.Reply{}, nil
	})
	go a.run(0)
	if _, err := b.run(0); err == nil {
		t.Error("B had its turn")
	}
	if _, err := c.run(0); err == nil {
		t.Error("C had its turn")
	}
	select {
	case <-overtook:
		t.Error("the release overtook a call that is still under way")
	default:
	}
	close(free)
	<-c.done[0]
}
