package main

import (
	"time"

	"incumbent/compare/lab/virtual"
)

// conditions are the flags of what a simulated run can have besides a fault.
type conditions struct {
	Renew time.Duration `default:"0" placeholder:"TIME" help:"Longest time between two renewals; 0 means a third of the TTL, which is also the most."`
	Link  string        `default:"lan" placeholder:"LINK" help:"How far candidates are from masters, each way: lan 0.1 to 0.3 ms, zone 0.5 to 1.5 ms, wan 20 to 60 ms (default: ${default}; wan needs a TTL of 3s)."`
	Loss  float64       `default:"0" placeholder:"SHARE" help:"Share of all that is sent which gets lost, from 0 to 0.2; it is sent again after 200 ms, 400 ms and so on, so the TTL must be 2s or more. With many masters and candidates votes then split for long."`
	Drift float64       `default:"0" placeholder:"PERCENT" help:"Each master's clock gains or loses up to that many per cent, at most 1."`
}

// link is the flag as specs have it: nothing where it is the default.
func (c conditions) link() string {
	if c.Link == virtual.Links()[0].Name {
		return ""
	}
	return c.Link
}
