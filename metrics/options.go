package metrics

import (
	"errors"
	"time"

	"incumbent/election"
)

// Options of a Collector. All but Election may be zero.
type Options struct {
	// Election is the election's name, the value of the label "election".
	// Mandatory.
	Election string

	// TTL, MaxTTL, Renew and StepDown are the elector's own, and are shown as
	// gauges, so that alert rules can be relative to them. Zero means the default,
	// as in election.Options: a TTL of 15 s.
	TTL, MaxTTL, Renew, StepDown time.Duration

	// Masters is how many masters are configured: 1 in single mode. 0 means that it
	// is learnt from the first term.
	Masters int
	// Commands counts the commands that were sent to the store, and only grows:
	// Client.Commands of package config. That counts for all elections of a client;
	// so in a process with several, give it to one Collector, or each election a
	// client. nil means that incumbent_store_commands_total stays 0.
	Commands func() uint64

	// Clock is the elector's. nil means election.SystemClock, as it does there.
	Clock election.Clock
}

// withDefaults fills in what the elector would.
func (o Options) withDefaults() Options {
	if o.TTL == 0 {
		o.TTL = 15 * time.Second
	}
	if o.MaxTTL == 0 {
		o.MaxTTL = o.TTL
	}
	if o.Renew == 0 {
		o.Renew = o.TTL / 3
	}
	if o.StepDown == 0 {
		o.StepDown = o.TTL / 10
	}
	if o.Clock == nil {
		o.Clock = election.SystemClock()
	}
	if o.Commands == nil {
		o.Commands = func() uint64 { return 0 }
	}
	return o
}

func (o Options) validate() error {
	if o.Election == "" {
		return errors.New("metrics: Options.Election is empty: name the election that the elector takes part in")
	}
	if o.Masters < 0 {
		return &election.OptionError{Field: "Masters", Value: o.Masters, Rule: "not negative"}
	}
	return election.Options{TTL: o.TTL, MaxTTL: o.MaxTTL, Renew: o.Renew, StepDown: o.StepDown}.Validate()
}

// renewTimeout is after how long an elector gives up a try to renew: a quarter of the
// TTL, so that a second try fits in before the deadline.
func (o Options) renewTimeout() time.Duration { return o.TTL / 4 }

// bucketScale is one decade of buckets.
var bucketScale = []float64{1, 2.5, 5}

// renewBuckets go from half a millisecond, which is a fast network, to the TTL. There
// are borders at half of a try's time-out, at which the rules alert, and at the time-out.
func (o Options) renewBuckets() []float64 {
	timeout := o.renewTimeout().Seconds()
	return append(buckets(0.0005, timeout/2), timeout/2, timeout, o.TTL.Seconds())
}

// buckets are round borders from least to less than most.
func buckets(least, most float64) []float64 {
	var out []float64
	for decade := 1e-4; decade < most; decade *= 10 {
		for _, x := range bucketScale {
			if b := decade * x; b >= least && b < most*0.99 {
				out = append(out, b)
			}
		}
	}
	return out
}
