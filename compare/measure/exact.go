package measure

import (
	"time"

	"incumbent/compare/history"
)

// What electors of the virtual lab do by default, as package election promises it. It is
// written down here once more, so that a mistake there shows.
const (
	// stepDownPart is which part of a TTL is left when the work is told to stop.
	stepDownPart = 10
	// driftPart of a TTL, and driftTime, are what a deadline gives up.
	driftPart = 100
	driftTime = 2 * time.Millisecond
	// instant is for timers that go off a little later than they should.
	instant = time.Millisecond
)

// drift is what a deadline gives up against clocks of different speed.
func drift(ttl time.Duration) time.Duration { return ttl/driftPart + driftTime }

// fromSent checks the deadline of a term that starts or is renewed. A request that
// takes some time was sent before it is answered.
func (c *checker) fromSent(ev history.Event) {
	latest := ev.At + c.ttl - drift(c.ttl)
	if c.promise.Deadlines && ev.Deadline >= latest {
		c.add(DeadlineFromSent, ev.At, ev.Actor, "the deadline of term %d is %s, and must be before %s", ev.Token, ev.Deadline, latest)
	}
}

// sentLate checks that a renewal which counted was sent before another's later term
// began. When that was follows from the deadline.
func (c *checker) sentLate(ev history.Event) {
	own := latest(c.terms, ev.Actor, ev.Token)
	if !c.promise.Renewals || own < 0 {
		return
	}
	sent := ev.Deadline - c.ttl + drift(c.ttl)
	for _, later := range c.terms[own+1:] {
		if later.actor != ev.Actor && sent > later.start {
			c.add(RenewalSentLate, ev.At, ev.Actor, "a renewal of term %d was sent %s after term %d of %s began",
				ev.Token, sent-later.start, later.token, later.actor)
			return
		}
	}
}

// stepDown checks a term that ended by its deadline.
func (c *checker) stepDown(t *live, ev history.Event) {
	if !c.promise.StepDown || !t.stopped || ev.At < t.deadline {
		return
	}
	if notice := t.deadline - t.told; notice < c.ttl/stepDownPart-instant {
		c.add(StepDownKept, ev.At, ev.Actor, "the work of term %d was told %s before the end", t.token, notice)
	}
}
