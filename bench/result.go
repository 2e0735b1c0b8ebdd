package bench

import "slices"

// A Result is what a run measured. Times are in seconds.
type Result struct {
	Seed uint64 `json:"seed"`
	// Rounds is how many were played.
	Rounds int `json:"rounds"`
	// CPUs is how many of them the client could use.
	CPUs int `json:"cpus"`
	// Server is the name and version of the first server, Servers the addresses of all.
	Server  string        `json:"server"`
	Servers []string      `json:"servers"`
	Ops     []Measurement `json:"operations"`
}

// Op returns the operation of that name and mode, or nil.
func (r *Result) Op(name, mode string) *Measurement {
	i := slices.IndexFunc(r.Ops, func(m Measurement) bool { return m.Name == name && m.Mode == mode })
	if i < 0 {
		return nil
	}
	return &r.Ops[i]
}

// Alone reports whether nobody else used the servers while it was counted.
func (r *Result) Alone() bool {
	return !slices.ContainsFunc(r.Ops, func(m Measurement) bool { return !m.Counts.Alone() })
}

// An Interval is a median, and where it lies with a confidence of at least 95 %.
type Interval struct {
	Median float64 `json:"median"`
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
}

// A Measurement is what was measured of one operation.
type Measurement struct {
	Op
	// N is how many were timed.
	N int `json:"n"`
	// P50, P90 and P99 are quantiles of all times, Mean is their mean.
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Mean float64 `json:"mean"`
	// Time is the median of a round.
	Time Interval `json:"time"`
	// XFloor is how many times the time of the floor it takes, by rounds.
	XFloor Interval `json:"x_floor"`
	// AA is the time of block A as a multiple of that of the identical block A', by
	// rounds. It would be 1 if nothing but the code mattered.
	AA Interval `json:"a_a"`
	// Spread is by what factor less 1 the two blocks of a round differ at most, in 95 %
	// of rounds.
	Spread float64 `json:"spread"`
	Heap   Heap    `json:"heap"`
	Counts Counts  `json:"counts"`
	// Rounds has the rounds in order.
	Rounds []Round `json:"rounds"`
}

// A Round is what one round measured of one operation, in its two blocks.
type Round struct {
	N      int     `json:"n"`
	Mean   float64 `json:"mean"`
	P50    float64 `json:"p50"` // the geometric mean of the medians of the two blocks
	P90    float64 `json:"p90"`
	P99    float64 `json:"p99"`
	AA     float64 `json:"a_a"`
	XFloor float64 `json:"x_floor"`
}
