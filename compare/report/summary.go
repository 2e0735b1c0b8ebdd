package report

import (
	"encoding/json"
	"io"

	"incumbent/compare"
	"incumbent/compare/measure"
)

// summary is summary.json.
type summary struct {
	Lab        string         `json:"lab"`
	TTL        float64        `json:"ttl_ms"`
	Candidates int            `json:"candidates"`
	Seed       uint64         `json:"seed"`
	Versions   string         `json:"versions"`
	Complete   bool           `json:"complete"`
	Broken     int            `json:"invariants_broken"`
	Failed     int            `json:"runs_failed"`
	Cells      []measure.Cell `json:"cells"`
}

// Summary writes summary.json: a list of cells, and under what they were measured.
func Summary(w io.Writer, r *compare.Result, versions string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	cells := r.Cells
	if cells == nil {
		cells = []measure.Cell{}
	}
	return e.Encode(summary{
		Lab: r.Lab, TTL: r.Plan.TTL.Seconds() * 1000, Candidates: r.Plan.Candidates, Seed: r.Plan.Seed,
		Versions: versions, Complete: !r.Interrupted && !r.GaveUp && len(r.Failed) == 0,
		Broken: len(r.Broken), Failed: len(r.Failed), Cells: cells,
	})
}
