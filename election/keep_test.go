package election_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func TestKeeperLeadsInTheBackground(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("other")
		c := join(t, m.Store(), "a")
		k := election.Keep(bg, c)
		synctest.Wait()
		if term, ok := k.Term(); ok || term != nil || !errors.Is(k.IsLeader(bg), election.ErrNotLeader) {
			t.Error("leads while another does")
		}
		m.Free()
		synctest.Wait()
		term, ok := k.Term()
		if !ok || !term.Valid() || k.IsLeader(bg) != nil {
			t.Fatal("does not lead a free election")
		}
		m.Expire()
		pass(renew + 200*ms)
		again, ok := k.Term()
		if !ok || again.Token() <= term.Token() {
			t.Fatal("did not lead again after a loss")
		}
		for range 2 {
			if err := k.Stop(bg); err != nil {
				t.Error(err)
			}
		}
		<-k.Done()
		if _, ok := k.Term(); ok || k.Err() != nil || again.Valid() {
			t.Errorf("leads after Stop, error %v", k.Err())
		}
		wantFree(t, m)
		if c.logs.count("WARN work failed") != 0 {
			t.Errorf("log:\n%s", c.logs)
		}
	})
}

// Term asks the clock: a keeper whose goroutine has not heard of the end yet
// does not claim to lead.
func TestKeeperReadsTheClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := &jumpClock{}
		k := election.Keep(bg, join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = clock }))
		synctest.Wait()
		if _, ok := k.Term(); !ok {
			t.Fatal("does not lead")
		}
		clock.jump(ttl)
		if _, ok := k.Term(); ok {
			t.Error("leads after a pause longer than the lease")
		}
		if err := k.Stop(bg); err != nil {
			t.Error(err)
		}
	})
}

func TestKeeperEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		ctx, cancel := context.WithCancelCause(bg)
		k := election.Keep(ctx, join(t, m.Store(), "a"))
		synctest.Wait()
		cancel(errors.New("shutting down"))
		<-k.Done()
		if err := k.Err(); err != nil {
			t.Error(err)
		}
		wantFree(t, m)
	})
}

func TestKeeperSaysWhyItStopped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := join(t, electiontest.NewMemory().Store(), "a")
		k := election.Keep(bg, c)
		synctest.Wait()
		if err := k.Err(); err != nil {
			t.Errorf("error %v while it runs", err)
		}
		if err := c.Close(bg); err != nil {
			t.Fatal(err)
		}
		<-k.Done()
		wantIs(t, k.Err(), election.ErrClosed)
	})
}

func TestKeeperStopIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		k := election.Keep(bg, join(t, m.Store(), "a"))
		synctest.Wait()
		m.Hang(true)
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		start := time.Now()
		wantIs(t, k.Stop(ctx), context.DeadlineExceeded)
		if took := time.Since(start); took != 100*ms {
			t.Errorf("Stop took %s", took)
		}
		<-k.Done()
	})
}
