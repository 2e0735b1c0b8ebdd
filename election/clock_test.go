package election_test

import (
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
)

func TestSystemClock(t *testing.T) {
	c := election.SystemClock()
	before := c.Now()
	fired := make(chan time.Time, 1)
	c.AfterFunc(20*ms, func() { fired <- c.Now() })
	if at := <-fired; at.Sub(before) < 20*ms {
		t.Errorf("a timer of 20ms fired after %s", at.Sub(before))
	}
	stop := c.AfterFunc(time.Hour, func() { t.Error("a stopped timer fired") })
	if !stop() || stop() {
		t.Error("stop does not report what it did")
	}
	for last, i := c.Now(), 0; i < 1000; i++ {
		now := c.Now()
		if now.Before(last) {
			t.Fatalf("the clock went back by %s", last.Sub(now))
		}
		last = now
	}
	// As a date it is an estimate: no suspension and no setting of the clock
	// worth speaking of happens within a test.
	if off := time.Since(c.Now()).Abs(); off > time.Hour {
		t.Errorf("%s away from the date", off)
	}
}

func TestRuntimeClockFollowsVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := election.RuntimeClock()
		start := c.Now()
		fired := make(chan time.Duration, 1)
		c.AfterFunc(time.Hour, func() { fired <- c.Now().Sub(start) })
		if got := <-fired; got != time.Hour {
			t.Errorf("%s passed", got)
		}
		stop := c.AfterFunc(time.Hour, func() { t.Error("a stopped timer fired") })
		if !stop() || stop() {
			t.Error("stop does not report what it did")
		}
		<-time.After(2 * time.Hour)
	})
}
