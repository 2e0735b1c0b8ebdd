package metrics

import (
	"errors"
	"sync"
	"time"

	"incumbent/election"
	"incumbent/internal/follow"
)

// A Collector shows one elector. Register it, and give its Observe to the elector. It
// may be used from many goroutines, and starts none.
type Collector struct {
	opt      Options
	follower *follow.Follower
	counters
	gauges gauges

	mu       sync.Mutex
	held     int // masters that confirmed last
	masters  int // out of so many; 0 if unknown
	waits    wait
	commands uint64 // that are accounted for
}

// wait is a campaign's wait for guards of the store.
type wait struct {
	guards election.StoreGuards
	began  time.Time // zero when there is none
	until  time.Time // when the guards end, as the last refusal said
	stale  time.Time // nobody waits any more if no refusal came until then
}

// New makes a Collector; all its series exist from here on. The error is a mistake in
// the options.
func New(o Options) (*Collector, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	c := &Collector{
		opt: o, follower: follow.New(o.Clock), counters: newCounters(o), gauges: newGauges(o.Election),
		masters: o.Masters, commands: o.Commands(),
	}
	return c, nil
}

// Observe takes in an event: it is meant for election.Options.Observer. It does not
// block.
func (c *Collector) Observe(ev election.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped.Add(float64(ev.Dropped))
	switch ev.Kind {
	case election.CampaignStarted:
		c.waits = wait{}
	case election.BidRefused:
		c.refused(ev)
	case election.TermStarted:
		c.started(ev)
	case election.Renewed:
		c.renewTook.Observe(ev.Took.Seconds())
		c.renewLag.Observe(ev.Lag.Seconds())
		c.held, c.masters = ev.Held, ev.Masters
	case election.RenewFailed:
		c.renewErrors.WithLabelValues(wordOf(ev.Err, renewKinds, other)).Inc()
	case election.TermEnded:
		c.ended(ev)
	case election.WorkReturned:
		if ev.Lag > 0 {
			c.overruns.Observe(ev.Lag.Seconds())
		}
	}
	c.follower.Observe(ev)
}

// started counts a term. c.mu is held.
func (c *Collector) started(ev election.Event) {
	c.account(standby)
	c.terms.Inc()
	c.bids.WithLabelValues(won).Inc()
	c.waits = wait{}
	c.held, c.masters = ev.Held, ev.Masters
}

// ended counts the end of a term. c.mu is held.
func (c *Collector) ended(ev election.Event) {
	c.account(leader)
	if l := (*election.Loss)(nil); errors.As(ev.Err, &l) {
		c.losses.WithLabelValues(l.Word()).Inc()
	}
}

// account adds the commands since the last call to a role. c.mu is held.
func (c *Collector) account(role string) {
	if n := c.opt.Commands(); n > c.commands {
		c.commandsSent.WithLabelValues(role).Add(float64(n - c.commands))
		c.commands = n
	}
}
