package measure

import (
	"time"

	"incumbent/compare/history"
)

// A Cell sums up runs of one mode under one fault. Its JSON form is an entry of
// summary.json.
type Cell struct {
	Mode    string `json:"mode"`
	Masters int    `json:"masters"`
	Fault   string `json:"fault"`
	// Guards is on, off, or none where the mode has none.
	Guards string `json:"guards"`
	Lab    string `json:"lab"`
	// Runs is how many were measured. The n of a quantity is smaller where runs
	// are not counted, such as those without a successor.
	Runs int `json:"runs"`

	Failover      Quantiles `json:"failover_ms"`
	Overshoot     Quantiles `json:"overshoot_ms"`
	Leaderless    Quantiles `json:"leaderless_ms"`
	BeliefOverlap Quantiles `json:"belief_overlap_ms"`
	ActOverlap    Quantiles `json:"act_overlap_ms"`

	// Stale acts of all runs together.
	StaleAttempted        int `json:"stale_attempted"`
	StaleAcceptedUnfenced int `json:"stale_accepted_unfenced"`
	StaleAcceptedFenced   int `json:"stale_accepted_fenced"`
}

// A Tally collects the figures of a cell's runs.
type Tally struct {
	cell                                      Cell
	failover, overshoot, leaderless, bel, act []time.Duration
}

// Add adds a run. The first one says what the cell is.
func (t *Tally) Add(run history.Run, f Figures) {
	if t.cell.Runs == 0 {
		t.cell = Cell{Mode: run.Mode, Masters: run.Masters, Fault: run.Fault, Guards: run.Guards, Lab: run.Lab}
	}
	t.cell.Runs++
	if f.FailedOver {
		t.failover = append(t.failover, f.Failover)
		t.overshoot = append(t.overshoot, f.Overshoot)
	}
	t.leaderless = append(t.leaderless, f.Leaderless)
	t.bel = append(t.bel, f.BeliefOverlap)
	t.act = append(t.act, f.ActOverlap)
	t.cell.StaleAttempted += f.StaleAttempted
	t.cell.StaleAcceptedUnfenced += f.StaleAcceptedUnfenced
	t.cell.StaleAcceptedFenced += f.StaleAcceptedFenced
}

// Cell sums up what was added so far.
func (t *Tally) Cell() Cell {
	c := t.cell
	c.Failover = QuantilesOf(t.failover)
	c.Overshoot = QuantilesOf(t.overshoot)
	c.Leaderless = QuantilesOf(t.leaderless)
	c.BeliefOverlap = QuantilesOf(t.bel)
	c.ActOverlap = QuantilesOf(t.act)
	return c
}
