package report

import (
	"encoding/json"
	"io"

	"incumbent/compare"
	"incumbent/compare/lab/remote"
	"incumbent/compare/measure"
)

// summary is summary.json.
type summary struct {
	Lab        string         `json:"lab"`
	TTL        float64        `json:"ttl_ms"`
	Candidates int            `json:"candidates"`
	Seed       uint64         `json:"seed"`
	Renew      float64        `json:"renew_ms,omitempty"`
	Link       string         `json:"link,omitempty"`
	Loss       float64        `json:"loss,omitempty"`
	Drift      float64        `json:"drift_percent,omitempty"`
	Schedules  []string       `json:"schedules,omitempty"`
	Versions   string         `json:"versions"`
	Complete   bool           `json:"complete"`
	Broken     int            `json:"invariants_broken"`
	Failed     int            `json:"runs_failed"`
	Cells      []measure.Cell `json:"cells"`
	// Remote is what was measured at the user's own endpoints.
	Remote *remote.Figures `json:"remote,omitempty"`
}

// Summary writes summary.json: a list of cells, and under what they were measured,
// as far as that is not as usual.
func Summary(w io.Writer, r *compare.Result, versions string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	cells := r.Cells
	if cells == nil {
		cells = []measure.Cell{}
	}
	var schedules []string
	for _, s := range r.Plan.Schedules {
		schedules = append(schedules, s.Name)
	}
	return e.Encode(summary{
		Lab: r.Lab, TTL: r.Plan.TTL.Seconds() * 1000, Candidates: r.Plan.Candidates, Seed: r.Plan.Seed,
		Renew: r.Plan.Renew.Seconds() * 1000, Link: r.Plan.Link, Loss: r.Plan.Loss, Drift: r.Plan.Drift, Schedules: schedules,
		Versions: versions, Complete: !r.Interrupted && !r.GaveUp && len(r.Failed) == 0,
		Broken: len(r.Broken), Failed: len(r.Failed), Cells: cells, Remote: r.Remote,
	})
}
