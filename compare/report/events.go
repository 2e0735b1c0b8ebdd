package report

import (
	"encoding/json"
	"io"

	"incumbent/compare"
	"incumbent/compare/history"
)

// line is one line of events.jsonl: which run, and what happened in it.
type line struct {
	Seed   uint64 `json:"seed"`
	Mode   string `json:"mode"`
	Fault  string `json:"fault"`
	Guards string `json:"guards"`
	history.Event
}

// Events says whose events are written to events.jsonl.
type Events string

// What Events can be.
const (
	AllEvents   Events = "all"   // those of all runs
	WorstEvents Events = "worst" // those of the worst run of each cell
	NoEvents    Events = "none"
)

// EventLines writes the events of a run as lines of events.jsonl.
func EventLines(w io.Writer, run history.Run) error {
	e := json.NewEncoder(w)
	mode := compare.Mode{Kind: run.Mode, Masters: run.Masters}.String()
	for _, ev := range run.Events {
		if err := e.Encode(line{run.Seed, mode, run.Fault, run.Guards, ev}); err != nil {
			return err
		}
	}
	return nil
}
