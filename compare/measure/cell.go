package measure

import (
	"math"
	"slices"
	"time"

	"incumbent/compare/history"
)

// A Cell sums up runs of one mode under one fault. Its JSON form is an entry of
// summary.json.
type Cell struct {
	Mode    string `json:"mode"`
	Masters int    `json:"masters"`
	Fault   string `json:"fault"`
	// Guards says whether the guards of the store were on or off.
	Guards string `json:"guards"`
	Lab    string `json:"lab"`
	// Runs is how many were measured. The n of a quantity is smaller where runs
	// are not counted, such as those without a successor. Kept is how many the
	// leader outlived: it led all the time.
	Runs int `json:"runs"`
	Kept int `json:"leader_kept"`

	Failover      Quantiles `json:"failover_ms"`
	Overshoot     Quantiles `json:"overshoot_ms"`
	Outage        Quantiles `json:"outage_ms"`
	Election      Quantiles `json:"election_ms"`
	Leaderless    Quantiles `json:"leaderless_ms"`
	BeliefOverlap Quantiles `json:"belief_overlap_ms"`
	ActOverlap    Quantiles `json:"act_overlap_ms"`
	// The same overlaps without the runs that had none: n says how many had one, and
	// the others how long those lasted.
	BeliefWindow Quantiles `json:"belief_window_ms"`
	ActWindow    Quantiles `json:"act_window_ms"`

	// Stale acts of all runs together.
	StaleAttempted        int `json:"stale_attempted"`
	StaleAcceptedUnfenced int `json:"stale_accepted_unfenced"`
	StaleAcceptedFenced   int `json:"stale_accepted_fenced"`

	// Load is what masters were asked while nothing was wrong; nil where no run
	// measured it.
	Load *Load `json:"load,omitempty"`
	// Samples are what the quantiles were taken of, for pictures. They are not in
	// summary.json; results.txt has them.
	Samples Samples `json:"-"`

	steps []string // of all runs, each once
}

// A Load is in commands a second, to all masters together.
type Load struct {
	// Leader is what one leader costs, Standby what each standby does.
	Leader  float64 `json:"leader_commands_per_sec"`
	Standby float64 `json:"standby_commands_per_sec"`
}

// Samples are the values of a cell's runs, in ascending order.
type Samples struct {
	Failover, Overshoot, Leaderless []time.Duration
}

// A Tally collects the figures of a cell's runs.
type Tally struct {
	cell                                      Cell
	failover, overshoot, leaderless, bel, act []time.Duration
	outage, election                          []time.Duration
	load                                      history.Load
	standing                                  time.Duration // of all standbys together
}

// Add adds a run. The first one says what the cell is.
func (t *Tally) Add(run history.Run, f Figures) {
	if t.cell.Runs == 0 {
		t.cell = Cell{Mode: run.Mode, Masters: run.Masters, Fault: run.Fault, Guards: run.Guards, Lab: run.Lab}
	}
	t.cell.Runs++
	for _, step := range run.Steps {
		if !slices.Contains(t.cell.steps, step) {
			t.cell.steps = append(t.cell.steps, step)
		}
	}
	if f.Kept {
		t.cell.Kept++
	}
	if f.FailedOver {
		t.failover = append(t.failover, f.Failover)
		t.overshoot = append(t.overshoot, f.Overshoot)
	}
	if f.StoreOut {
		t.outage = append(t.outage, f.Outage)
	}
	if f.Elected {
		t.election = append(t.election, f.Election)
	}
	t.leaderless = append(t.leaderless, f.Leaderless)
	t.bel = append(t.bel, f.BeliefOverlap)
	t.act = append(t.act, f.ActOverlap)
	t.load.Span += run.Load.Span
	t.load.Leader += run.Load.Leader
	t.load.Standby += run.Load.Standby
	t.standing += run.Load.Span * time.Duration(run.Load.Standbys)
	t.cell.StaleAttempted += f.StaleAttempted
	t.cell.StaleAcceptedUnfenced += f.StaleAcceptedUnfenced
	t.cell.StaleAcceptedFenced += f.StaleAcceptedFenced
}

// Cell sums up what was added so far.
func (t *Tally) Cell() Cell {
	c := t.cell
	c.Failover = QuantilesOf(t.failover)
	c.Overshoot = QuantilesOf(t.overshoot)
	c.Outage = QuantilesOf(t.outage)
	c.Election = QuantilesOf(t.election)
	c.Leaderless = QuantilesOf(t.leaderless)
	c.BeliefOverlap = QuantilesOf(t.bel)
	c.ActOverlap = QuantilesOf(t.act)
	c.BeliefWindow = QuantilesOf(above0(t.bel))
	c.ActWindow = QuantilesOf(above0(t.act))
	c.Load = t.perSecond()
	c.Samples = Samples{ascending(t.failover), ascending(t.overshoot), ascending(t.leaderless)}
	return c
}

func ascending(d []time.Duration) []time.Duration { return slices.Sorted(slices.Values(d)) }

// perSecond is the load; nil if none was measured.
func (t *Tally) perSecond() *Load {
	if t.load.Span <= 0 {
		return nil
	}
	l := &Load{Leader: float64(t.load.Leader) / t.load.Span.Seconds()}
	if t.standing > 0 {
		l.Standby = float64(t.load.Standby) / t.standing.Seconds()
	}
	return l
}

// above0 leaves out what did not happen.
func above0(all []time.Duration) (some []time.Duration) {
	for _, d := range all {
		if d > 0 {
			some = append(some, d)
		}
	}
	return some
}

// Promise is what the cell's runs promise, all of them.
func (c Cell) Promise() Promise {
	return Promises(history.Run{Fault: c.Fault, Masters: c.Masters, Guards: c.Guards, Lab: c.Lab, Steps: c.steps})
}

// UpperBound is the upper end of the one-sided 95 % confidence interval of a
// share of which n independent runs showed none: 1 - 0.05^(1/n), about 3/n
// (Clopper and Pearson, 1934). It is 1 without any run.
func UpperBound(n int) float64 {
	if n < 1 {
		return 1
	}
	return -math.Expm1(math.Log(0.05) / float64(n))
}
