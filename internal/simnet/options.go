package simnet

import (
	"fmt"
	"time"
)

// Latency is the range of the one-way delay of a link. Delays are spread evenly
// over it.
type Latency struct {
	Min, Max time.Duration
}

// LAN is the delay of a local network, the default.
var LAN = Latency{Min: 100 * time.Microsecond, Max: 300 * time.Microsecond}

// Options tune a World. The zero value is a healthy local network.
type Options struct {
	// Latency is the one-way delay of every link; zero means [LAN].
	// See [World.SetLatency] for a single link.
	Latency Latency

	// Loss is the probability, from 0 (the default) to below 1, that a segment is
	// lost on its way and has to be sent again.
	Loss float64

	// Retransmit is how long a lost segment waits before it is sent again; the
	// wait doubles with each further loss. Zero means 200 ms, the least that
	// Linux waits. Below zero it is never sent again: the connection stalls in
	// that direction until the link is healed.
	Retransmit time.Duration

	// Uptime is how long a master looks to have been up when it is added, in
	// whole seconds; zero means that it has just started. A restart makes it
	// zero for every master.
	Uptime time.Duration

	// Residues is the number of nanoseconds in the comb that keeps sources of
	// events apart; zero means 4096. More of them allow more hosts and masters
	// (about 16 are used by each pair of those) but round delays more coarsely.
	Residues int
}

const (
	defaultRetransmit = 200 * time.Millisecond
	defaultResidues   = 4096
	minResidues       = 64
)

// withDefaults replaces zero fields, and checks the result.
func (o Options) withDefaults() (Options, error) {
	if o.Latency == (Latency{}) {
		o.Latency = LAN
	}
	if o.Retransmit == 0 {
		o.Retransmit = defaultRetransmit
	}
	if o.Residues == 0 {
		o.Residues = defaultResidues
	}
	if err := o.Latency.check(); err != nil {
		return o, fmt.Errorf("simnet: Options.%w", err)
	}
	if !(o.Loss >= 0 && o.Loss < 1) {
		return o, fmt.Errorf("simnet: Options.Loss is %v: must be at least 0 and below 1", o.Loss)
	}
	if o.Uptime < 0 || o.Uptime%time.Second != 0 {
		return o, fmt.Errorf("simnet: Options.Uptime is %v: must be a whole number of seconds, and not negative", o.Uptime)
	}
	if o.Residues < minResidues {
		return o, fmt.Errorf("simnet: Options.Residues is %d: must be at least %d, or 0 for %d",
			o.Residues, minResidues, defaultResidues)
	}
	return o, nil
}

func (l Latency) check() error {
	if l.Min <= 0 || l.Max < l.Min {
		return fmt.Errorf("Latency is %v to %v: Min must be above 0, and Max not below Min", l.Min, l.Max)
	}
	return nil
}
