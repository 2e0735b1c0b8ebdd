package virtual

import (
	"cmp"
	"fmt"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// Lab is this lab's name in histories.
const Lab = history.Virtual

// Limits of a [Spec].
const (
	MinCandidates = 2
	MaxCandidates = 50
	MinTTL        = 100 * time.Millisecond
	MaxTTL        = time.Hour
)

// A Spec says what to play. Equal specs give equal histories.
type Spec struct {
	// Seed of all that is random.
	Seed uint64 `json:"seed"`
	// Mode is single, with one master, or quorum.
	Mode string `json:"mode"`
	// Masters is how many there are: 1 in single mode, 3 or more in quorum.
	Masters int `json:"masters"`
	// Fault is a name of package fault.
	Fault string `json:"fault"`
	// Guards of the store: on or off. "" means on.
	Guards string `json:"guards"`
	// TTL of leases, in whole milliseconds.
	TTL time.Duration `json:"ttl_ns"`
	// Candidates is how many take part.
	Candidates int `json:"candidates"`
	// Renew is the longest time between two renewals; 0 means TTL/3, and is the most.
	Renew time.Duration `json:"renew_ns,omitzero"`
	// Link is a name of [Links]: how far candidates are from masters. "" means lan.
	// The resource is always near.
	Link string `json:"link,omitempty"`
	// Loss is the share of all segments that are lost on their way, and sent again
	// after 200 ms, 400 ms and so on.
	Loss float64 `json:"loss,omitzero"`
	// Drift is by how many per cent at most a master's clock runs fast or slow.
	Drift float64 `json:"drift,omitzero"`
	// Schedule is played in place of a fault; nil if there is none. Fault is its name.
	Schedule *fault.Schedule `json:"schedule,omitempty"`
}

// Validate checks all fields.
func (s Spec) Validate() error {
	if _, err := s.fault(); err != nil {
		return err
	}
	switch {
	case s.Guards != "" && s.Guards != history.GuardsOn && s.Guards != history.GuardsOff:
		return fmt.Errorf("guards %q: must be %s or %s", s.Guards, history.GuardsOn, history.GuardsOff)
	case s.Mode != "single" && s.Mode != "quorum":
		return fmt.Errorf("mode %q: must be single or quorum", s.Mode)
	case s.Mode == "single" && s.Masters != 1:
		return fmt.Errorf("masters %d: must be 1 in single mode", s.Masters)
	case s.Mode == "quorum" && (s.Masters < 3 || s.Masters > 9):
		return fmt.Errorf("masters %d: must be from 3 to 9 in quorum mode", s.Masters)
	case s.TTL < MinTTL || s.TTL > MaxTTL:
		return fmt.Errorf("TTL %s: must be from %s to %s", s.TTL, MinTTL, MaxTTL)
	case s.TTL%time.Millisecond != 0:
		return fmt.Errorf("TTL %s: must be a whole number of milliseconds", s.TTL)
	case s.Candidates < MinCandidates || s.Candidates > MaxCandidates:
		return fmt.Errorf("candidates %d: must be from %d to %d", s.Candidates, MinCandidates, MaxCandidates)
	}
	return s.Conditions().Validate(s.TTL)
}

// fault is what is played.
func (s Spec) fault() (fault.Fault, error) {
	if s.Schedule == nil {
		return fault.ByName(s.Fault)
	}
	if s.Schedule.Name != s.Fault {
		return fault.Fault{}, fmt.Errorf("fault %q: must be the name of the schedule, %q", s.Fault, s.Schedule.Name)
	}
	return s.Schedule.Fault(), s.Schedule.Validate()
}

// Conditions are those that the spec asks for.
func (s Spec) Conditions() Conditions { return Conditions{s.Renew, s.Link, s.Loss, s.Drift} }

// String names the spec in errors.
func (s Spec) String() string {
	return fmt.Sprintf("%s of %d, %s, guards %s, TTL %s, %d candidates%s, seed %d",
		s.Mode, s.Masters, s.Fault, s.guards(), s.TTL, s.Candidates, s.Conditions(), s.Seed)
}

// guards is on or off.
func (s Spec) guards() string { return cmp.Or(s.Guards, history.GuardsOn) }

// run is the head of the spec's history.
func (s Spec) run() history.Run {
	return history.Run{
		Seed: s.Seed, Mode: s.Mode, Masters: s.Masters, Fault: s.Fault,
		Guards: s.guards(), Lab: Lab, TTL: s.TTL,
		Candidates: s.Candidates, Renew: s.Renew, Link: s.Link, Loss: s.Loss, Drift: s.Drift,
	}
}
