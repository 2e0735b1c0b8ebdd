package local

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"incumbent/compare/history"
)

// childEnv is what makes a process a candidate. Its configuration is the first line of
// its input, where nobody else can read it.
const childEnv = "INCUMBENT_LAB_CANDIDATE"

// childConfig is all that a candidate is told at its start.
type childConfig struct {
	Name     string        `json:"name"`
	Mode     string        `json:"mode"`
	Masters  []string      `json:"masters"`
	Election string        `json:"election"`
	Prefix   string        `json:"prefix"`
	TTL      time.Duration `json:"ttl_ns"`
	Renew    time.Duration `json:"renew_ns"`
	StepDown time.Duration `json:"step_down_ns"`
	ActEvery time.Duration `json:"act_every_ns"`
	Plain    bool          `json:"plain"`
	Stubborn bool          `json:"stubborn"`
	Trace    bool          `json:"trace"`
	Unguard  bool          `json:"guards_off"`
	Acks     int           `json:"replica_acks"`
	// Sentinels are asked for the primary; none means that Masters are the masters.
	Sentinels []string `json:"sentinels,omitempty"`
	// Far is set where masters belong to somebody else, and says more than Masters.
	Far *farChild `json:"far,omitempty"`
}

// What a candidate is told while it runs, one word a line.
const (
	cmdResign  = "resign"  // end the work: the term is given back
	cmdPlant   = "plant"   // stop yourself between the next check and its act
	cmdUnplant = "unplant" // do not, after all
	cmdStats   = "stats"   // tell your goroutines and connections
)

// Kinds of line that are no events of a run.
const (
	kindAct   history.Kind = "act"   // an act on its way to the resource
	kindStats history.Kind = "stats" // the answer to cmdStats
)

// Names of notes, for those who wait for them.
const (
	// NoteBid: a bid was sent (only with Options.Trace).
	NoteBid = "bid"
	// NoteWoken: a wake-up came (only with Options.Trace).
	NoteWoken = "woken"
	// NoteRefused: a bid did not win; Err is why, in one word.
	NoteRefused = "refused"
	// NoteDone: the work saw its context done.
	NoteDone = "context-done"
	// NoteInvalid: the work asked Valid, and was told no for the first time.
	NoteInvalid = "told-invalid"
	// NoteRenewFailed: a try to renew failed.
	NoteRenewFailed = "renew-failed"
	// NoteReturned: the work has returned; no act of its term comes after it.
	NoteReturned = "work-returned"
	// NoteReleased: the lease was given back.
	NoteReleased = "released"
)

// A Line is an event as a candidate tells it, with what only the lab needs.
// While a lab runs, At and Deadline are CLOCK_MONOTONIC itself.
type Line struct {
	history.Event
	// Took is how long the store call took, for renewed, term-started (since the
	// bid was sent) and released (since the term ended).
	Took time.Duration `json:"took_ns,omitempty"`
	// Seen is when the candidate noticed, where At says when it was so.
	Seen time.Duration `json:"seen_ns,omitempty"`
	// Held is how many masters confirmed (term-started, renewed).
	Held int `json:"held,omitempty"`
	// Stats is set in answers to that question.
	Stats *Stats `json:"stats,omitempty"`
}

// Stats is what a candidate's process consists of.
type Stats struct {
	Goroutines int `json:"goroutines"`
	Sockets    int `json:"sockets"`
}

// lineWriter writes lines whole, and numbers them.
type lineWriter struct {
	mu sync.Mutex
	n  int
	e  *json.Encoder
}

func newLineWriter(w io.Writer) *lineWriter { return &lineWriter{e: json.NewEncoder(w)} }

// write panics when the lab is gone: a candidate has no purpose without it.
func (w *lineWriter) write(l Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	l.N = w.n
	if err := w.e.Encode(l); err != nil {
		panic("local: cannot tell the lab: " + err.Error())
	}
}
