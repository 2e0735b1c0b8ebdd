package proof_test

import (
	"time"

	"incumbent/election"
)

// childEnv is the environment variable that makes a process of the test binary
// a candidate. It holds a childConfig as JSON.
const childEnv = "INCUMBENT_PROOF_CANDIDATE"

// childConfig is what a candidate is told.
type childConfig struct {
	Name     string
	Election string
	Mode     string // single or quorum
	Masters  []string
	// Postgres, Redis and HTTP are where the resources are. One that is "" is
	// left out.
	Postgres, Redis, HTTP string
	// Raise says that election.Run gets the guards.
	Raise bool
	// Inside puts the check and the write into one transaction of PostgreSQL.
	Inside bool
	Chatty bool
}

// The bytes that answer a check.
const (
	writeFirst = 'w' // go on to the write, then look at the term
	lookFirst  = 'l' // look at the term, and write whatever it says
)

// What a candidate tells, one line of JSON each.
const (
	campaigning = "campaigning"
	lost        = "lost"    // a bid
	started     = "started" // a term
	raising     = "raising" // a guard is about to be
	raised      = "raised"
	checked     = "checked" // the term is valid; waits for an answer
	looked      = "looked"  // at the term, the first time after that
	act         = "act"     // has an outcome
	acted       = "acted"   // all acts of one check have
	ended       = "ended"   // the term
)

// What becomes of an act.
const (
	accepted = "accepted"
	refused  = "refused" // by a fence
	failed   = "failed"  // anything else
)

// line is what a candidate tells.
type line struct {
	Kind  string
	At    time.Duration  // CLOCK_MONOTONIC; for an act, when its outcome was known
	Who   string         `json:",omitempty"` // filled in by who hears it
	Token election.Token `json:",omitempty"`

	Resource string         `json:",omitempty"` // of raising, raised, act
	Guarded  bool           `json:",omitempty"` // an act that went through the guard
	From     time.Duration  `json:",omitempty"` // when an act was sent
	Outcome  string         `json:",omitempty"`
	Known    election.Token `json:",omitempty"` // by the guard that refused

	Valid bool   `json:",omitempty"` // what Term.Valid said: looked
	Live  bool   `json:",omitempty"` // the work's context was not done: looked
	Err   string `json:",omitempty"` // why an act or a bid failed, or a term ended
}
