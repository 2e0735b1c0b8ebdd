package main

import (
	"time"

	"github.com/spf13/pflag"

	"incumbent/compare/lab/virtual"
)

// conditions are the flags of what a simulated run can have besides a fault.
type conditions struct {
	Renew time.Duration
	Link  string
	Loss  float64
	Drift float64
}

func (c *conditions) flags(f *pflag.FlagSet) {
	c.Link = virtual.Links()[0].Name
	f.DurationVar(&c.Renew, "renew", 0, "Longest time between two renewals; 0 means a third of the TTL, which is also the most.")
	f.Var(textFlag(&c.Link, "LINK"), "link", "How far candidates are from masters, each way: lan 0.1 to 0.3 ms, zone 0.5 to 1.5 ms, "+
		"wan 20 to 60 ms, which needs a TTL of 3s.")
	f.Var(numberFlag(&c.Loss, "SHARE"), "loss", "Share of all that is sent which gets lost, from 0 to 0.2; it is sent again after 200 ms, "+
		"400 ms and so on, so the TTL must be 2s or more. With many masters and candidates votes then split for long.")
	f.Var(numberFlag(&c.Drift, "PERCENT"), "drift", "Each master's clock gains or loses up to that many per cent, at most 1.")
}

// link is the flag as specs have it: nothing where it is the default.
func (c conditions) link() string {
	if c.Link == virtual.Links()[0].Name {
		return ""
	}
	return c.Link
}
