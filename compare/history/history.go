// Package history is the record of one run of the harness: what candidates did
// and believed, what the resource saw, and which fault struck. Labs write it,
// package measure reads it; neither knows the other.
//
// It promises nothing about clocks: a lab must stamp all events of a run by one
// clock that all its actors share.
package history

import (
	"cmp"
	"slices"
	"time"
)

// Kind says what happened.
type Kind string

const (
	// Fault: a fault struck. Actor is what it struck, Name which fault it was,
	// and Floor how long the lease still had at the store.
	Fault Kind = "fault"
	// Healed: the fault is over.
	Healed Kind = "healed"
	// MasterDown: Actor, a master, serves nobody from now on, or refuses writes.
	MasterDown Kind = "master-down"
	// MasterUp: it, or who has taken its place, executes again what it is asked, writes
	// included.
	MasterUp Kind = "master-up"
	// TermStarted: Actor's own Valid became true, for Token.
	TermStarted Kind = "term-started"
	// TermStopping: the term's context is done.
	TermStopping Kind = "term-stopping"
	// TermEnded: Actor's own Valid became false, for Token, by the shared clock:
	// the deadline, or the instant at which it was given up before. For a
	// candidate that crashed or is frozen it is the deadline it had.
	TermEnded Kind = "term-ended"
	// Renewed: a renewal counted; Deadline is the new one.
	Renewed Kind = "renewed"
	// Checked: Actor asked Valid, was told yes, and is about to act under Token.
	Checked Kind = "checked"
	// Acted: an act under Token reached the resource. Unfenced tells whether a
	// resource without a fence took it (always true), Fenced whether one with a
	// fence did.
	Acted Kind = "acted"
	// Note: anything a reader of the timeline may want to know.
	Note Kind = "note"
)

// An Event is one line of events.jsonl. Zero fields are left out.
type Event struct {
	// At is the time since the run began, by the clock that all actors share.
	At time.Duration `json:"at_ns"`
	// Actor is a candidate, a master, or "lab".
	Actor string `json:"actor"`
	// N orders events of one actor at one instant.
	N    int    `json:"n"`
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
	// Token of the term concerned.
	Token uint64 `json:"token,omitempty"`
	// Deadline is the term's deadline since the run began (term-started, renewed).
	Deadline time.Duration `json:"deadline_ns,omitempty"`
	// Floor is the time the lease still had at the store (fault).
	Floor    time.Duration `json:"floor_ns,omitempty"`
	Unfenced bool          `json:"unfenced,omitempty"`
	Fenced   bool          `json:"fenced,omitempty"`
	// Err is why, in words that do not vary between two runs of one seed.
	Err string `json:"err,omitempty"`
}

// Virtual is the Lab of runs in which time is simulated: processes stop only where a
// fault stops them.
const Virtual = "virtual"

// Local is the Lab of runs with real servers and processes on one machine.
const Local = "local"

// What a run's Guards can be.
const (
	GuardsOn  = "on"
	GuardsOff = "off"
)

// A Run is one run of one cell.
type Run struct {
	// Seed replays it, where the lab can.
	Seed uint64 `json:"seed"`
	// Mode is single or quorum, Masters how many masters it had.
	Mode    string `json:"mode"`
	Masters int    `json:"masters"`
	// Fault is the name of the fault.
	Fault string `json:"fault"`
	// Guards says whether the guards of the store were on.
	Guards string `json:"guards"`
	// Lab is Virtual, Local, or another name of a lab.
	Lab string `json:"lab"`
	// TTL of the leases.
	TTL time.Duration `json:"ttl_ns"`
	// Candidates is how many took part; 0 where that was not said.
	Candidates int `json:"candidates,omitzero"`
	// Renew is the longest time between renewals; 0 means TTL/3. Link is the name of
	// the lab's link; "" means its shortest. Loss is the share of segments that got
	// lost, Drift by how many per cent at most the clocks of masters ran wrong.
	Renew time.Duration `json:"renew_ns,omitzero"`
	Link  string        `json:"link,omitempty"`
	Loss  float64       `json:"loss,omitzero"`
	Drift float64       `json:"drift,omitzero"`
	// Steps are the faults of a schedule, in the order in which they struck; none
	// where Fault is a single one.
	Steps []string `json:"steps,omitempty"`
	// Load is what the masters had to do while nothing was wrong; zero where it was
	// not measured.
	Load Load `json:"load,omitzero"`
	// Length is how long the run lasted by the shared clock.
	Length time.Duration `json:"length_ns"`
	Events []Event       `json:"events"`
}

// A Load is what candidates asked of all masters together.
type Load struct {
	// Span is for how long it was counted.
	Span time.Duration `json:"span_ns"`
	// Leader and Standby are commands of the leader and of all standbys together,
	// of which there were Standbys. Commands that scripts issue are not counted.
	Leader   int `json:"leader"`
	Standby  int `json:"standby"`
	Standbys int `json:"standbys"`
}

// Sort orders events by time, actor and number: the one order in which two
// runs of the same seed are equal.
func Sort(events []Event) {
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.N, b.N))
	})
}
