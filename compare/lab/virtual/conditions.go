package virtual

import (
	"fmt"
	"strings"
	"time"

	"incumbent/compare/fault"
	"incumbent/internal/simnet"
)

// Conditions are what a run can have besides a fault. The zero value is a healthy
// local network, and the interval of renewals that electors choose.
type Conditions struct {
	Renew       time.Duration
	Link        string
	Loss, Drift float64
}

// A Link is how far apart candidates and masters are.
type Link struct {
	// Name is how flags call it.
	Name string
	// Delay is that of each way.
	Delay simnet.Latency
}

// Links lists those that there are. The first is the default.
func Links() []Link {
	return []Link{
		{"lan", simnet.LAN},
		{"zone", simnet.Latency{Min: 500 * time.Microsecond, Max: 1500 * time.Microsecond}},
		{"wan", simnet.Latency{Min: 20 * time.Millisecond, Max: 60 * time.Millisecond}},
	}
}

// Limits of conditions.
const (
	MaxLoss  = 0.2
	MaxDrift = 1.0 // per cent: what deadlines allow for
	// A try of an operation may take a quarter of a TTL. It must be long enough to
	// connect, to ask and to be answered several times over.
	delaysPerTTL = 50
	// What is lost is sent again after 200 ms: that must fit into a try once on the way
	// there and once on the way back.
	minLossyTTL = 2 * time.Second
)

// A ConditionError says which of the conditions is wrong, its value, and the rule.
type ConditionError struct {
	// Field is renew, link, loss, drift or ttl.
	Field string
	Value any
	Rule  string
}

// Error gives field, value and rule.
func (e *ConditionError) Error() string { return fmt.Sprintf("%s: %v: %s", e.Field, e.Value, e.Rule) }

// Validate checks conditions for leases of that length. The error is a
// *ConditionError.
func (c Conditions) Validate(ttl time.Duration) error {
	link, ok := c.link()
	least := delaysPerTTL * link.Delay.Max
	switch {
	case !ok:
		return &ConditionError{"link", fmt.Sprintf("%q", c.Link), "must be of " + strings.Join(linkNames(), ", ")}
	case !(c.Loss >= 0 && c.Loss <= MaxLoss):
		return &ConditionError{"loss", c.Loss, fmt.Sprintf("must be from 0 to %v", MaxLoss)}
	case !(c.Drift >= 0 && c.Drift <= MaxDrift):
		return &ConditionError{"drift", c.Drift, fmt.Sprintf("must be from 0 to %v per cent, which is what deadlines allow for", MaxDrift)}
	case c.Renew < 0 || c.Renew > ttl/3 || c.Renew > 0 && c.Renew < time.Millisecond:
		return &ConditionError{"renew", c.Renew, fmt.Sprintf("must be from 1ms to a third of the TTL, %s, or 0 for that", ttl/3)}
	case ttl < least:
		return &ConditionError{"ttl", ttl, fmt.Sprintf("must be at least %s on a link like %s, %d times its longest delay of %s each way", least, link.Name, delaysPerTTL, link.Delay.Max)}
	case c.Loss > 0 && ttl < minLossyTTL:
		return &ConditionError{"ttl", ttl, fmt.Sprintf("must be at least %s with losses, which are sent again after 200ms", minLossyTTL)}
	}
	return nil
}

// link finds the link; false if there is none of that name.
func (c Conditions) link() (Link, bool) {
	for _, l := range Links() {
		if l.Name == c.Link || c.Link == "" {
			return l, true
		}
	}
	return Link{}, false
}

func linkNames() (names []string) {
	for _, l := range Links() {
		names = append(names, l.Name)
	}
	return names
}

// String is what differs from the default, each after a comma.
func (c Conditions) String() string {
	var b strings.Builder
	if c.Renew > 0 {
		fmt.Fprintf(&b, ", renewed every %s", c.Renew)
	}
	if c.Link != "" && c.Link != Links()[0].Name {
		fmt.Fprintf(&b, ", %s links", c.Link)
	}
	if c.Loss > 0 {
		fmt.Fprintf(&b, ", loss %v", c.Loss)
	}
	if c.Drift > 0 {
		fmt.Fprintf(&b, ", drift %v %%", c.Drift)
	}
	return b.String()
}

// network is how simnet is to be for a spec. Every pair of a host and a master has
// residues of its own, and schedules add masters as they go.
func (s Spec) network() simnet.Options {
	link, _ := s.Conditions().link()
	hosts, masters := 2*s.Candidates+1, s.Masters+s.replicas()
	residues := 4096
	for residues < hosts*(masters*16+8) {
		residues *= 2
	}
	return simnet.Options{Uptime: uptime, Latency: link.Delay, Loss: s.Loss, Residues: residues}
}

// replicas is how many servers the faults of a run may add: two each.
func (s Spec) replicas() int {
	switch {
	case s.Schedule != nil:
		return 2 * len(s.Schedule.Steps)
	case s.Fault == fault.Random:
		return 2 * 8
	}
	return 2
}
