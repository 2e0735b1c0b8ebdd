package local

import (
	"fmt"
	"io"
	"time"
)

// Options says what a lab consists of. The zero value is a lab of one master
// and three candidates with a TTL of 2 s.
type Options struct {
	// Mode is single or quorum. "" means single.
	Mode string
	// Masters is how many servers run. 0 means 1 in single mode and 3 in quorum.
	Masters int
	// Servers are addresses of masters that run already, one for each of Masters.
	// They are used for leases and asked for their time left; nobody starts, stops
	// or harms them, and Lab.Servers is empty. nil means that the lab starts its own.
	Servers []string
	// Far are masters that belong to somebody else, with TLS, users, Sentinels or a
	// Cluster. It excludes Servers, Sentinels and ReplicaAcks, and needs Proxies; Masters
	// is how many of them there are. nil means that there are none.
	Far *Far
	// Candidates is how many processes campaign. 0 means 3.
	Candidates int
	// TTL of the leases. 0 means 2 s.
	TTL time.Duration
	// Renew and StepDown are passed to the candidates. 0 means election's defaults.
	Renew, StepDown time.Duration
	// ActEvery is how often a leader acts on the resource. 0 means 10 ms.
	ActEvery time.Duration
	// Proxies puts a proxy between each candidate and each master. Without them
	// nobody can be cut off, and nothing is added to what a call costs.
	Proxies bool
	// PlainClients lets candidates use go-redis with its default options, not
	// with those that leases need.
	PlainClients bool
	// Stubborn leaders go on acting after their term's context is done, for as
	// long as Valid says yes.
	Stubborn bool
	// Trace adds notes on bids and wake-ups to the events.
	Trace bool
	// Election is the election's name. "" means "lab".
	Election string
	// Prefix is what all keys start with. "" means the stores' default.
	Prefix string
	// Seed draws the phases at which faults strike. It replays nothing else.
	Seed uint64
	// GuardsOff switches all guards of the store off.
	GuardsOff bool
	// ReplicaAcks is how many replicas must have acknowledged what a store counts.
	// Each master has so many then: 0 or 1, and 0 with Servers.
	ReplicaAcks int
	// Sentinels puts the one master of single mode, with two replicas, under three
	// sentinels, whom candidates ask for the primary. It excludes Servers and Proxies.
	Sentinels bool
	// ServerBinary is the server program, a path or a name in PATH. "" means
	// redis-server or else valkey-server.
	ServerBinary string
	// FakeTime is the path of libfaketimeMT.so.1, with which clocks of masters can
	// be set. "" means where packages put it.
	FakeTime string
	// Stderr gets what candidates log. nil drops it.
	Stderr io.Writer

	stock  *stock // where servers come from and go to; nil means a stock of its own
	spares int    // servers that can become replicas, old enough for no restart guard
	clocks bool   // clocks of masters can be set
}

// An OptionError says which option is wrong, its value, and the rule it breaks.
type OptionError struct {
	Field string
	Value any
	Rule  string
}

// Error gives field, value and rule.
func (e *OptionError) Error() string {
	return fmt.Sprintf("local: option %s: %v: %s", e.Field, e.Value, e.Rule)
}

func (o Options) withDefaults() Options {
	if o.Mode == "" {
		o.Mode = "single"
	}
	if o.Far != nil {
		o.Masters = len(o.Far.Client.Servers())
	}
	if o.Masters == 0 {
		o.Masters = 1
		if o.Mode == "quorum" {
			o.Masters = 3
		}
	}
	if o.Candidates == 0 {
		o.Candidates = 3
	}
	if o.TTL == 0 {
		o.TTL = 2 * time.Second
	}
	if o.ActEvery == 0 {
		o.ActEvery = 10 * time.Millisecond
	}
	if o.Election == "" {
		o.Election = "lab"
	}
	return o
}

// validate checks options that have their defaults. What election checks
// itself is left to it.
func (o Options) validate() error {
	checks := []struct {
		bad   bool
		field string
		value any
		rule  string
	}{
		{o.Mode != "single" && o.Mode != "quorum", "Mode", o.Mode, "single or quorum"},
		{o.Mode == "single" && o.Masters != 1, "Masters", o.Masters, "1 in single mode"},
		{o.Mode == "quorum" && (o.Masters < 3 || o.Masters%2 == 0), "Masters", o.Masters, "an odd number of at least 3 in quorum mode"},
		{o.Servers != nil && len(o.Servers) != o.Masters, "Servers", o.Servers, fmt.Sprintf("one for each of %d masters", o.Masters)},
		{o.Sentinels && (o.Mode != "single" || o.Servers != nil || o.Proxies), "Sentinels", true, "single mode only, without Servers and Proxies"},
		{o.Far != nil && (o.Servers != nil || o.Sentinels || o.ReplicaAcks > 0 || !o.Proxies), "Far", "set", "with Proxies, without Servers, Sentinels and ReplicaAcks"},
		{o.ReplicaAcks < 0 || o.ReplicaAcks > 1, "ReplicaAcks", o.ReplicaAcks, "0 or 1"},
		{o.ReplicaAcks > 0 && o.Servers != nil, "ReplicaAcks", o.ReplicaAcks, "0 with Servers, whose replicas are not the lab's"},
		{o.Candidates < 1, "Candidates", o.Candidates, "at least 1"},
		{o.ActEvery < time.Millisecond, "ActEvery", o.ActEvery, "at least 1ms"},
		{o.TTL < 100*time.Millisecond, "TTL", o.TTL, "at least 100ms, below which scheduling is all that is measured"},
	}
	for _, c := range checks {
		if c.bad {
			return &OptionError{c.field, c.value, c.rule}
		}
	}
	return nil
}

// need is how many masters must agree.
func (o Options) need() int { return o.Masters/2 + 1 }
