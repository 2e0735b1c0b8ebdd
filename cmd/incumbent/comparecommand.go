package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/virtual"
)

// command is what plays a plan, and judges it by the same limits. Flags that have
// their defaults are left out.
func (c *compareCommand) command(p compare.Plan) string {
	args := []string{self() + " compare"}
	add := func(flag, value, standard string) {
		if value != standard {
			args = append(args, flag, compare.ShellWord(value))
		}
	}
	d := c.defaults()
	lan := virtual.Links()[0].Name
	add("--lab", cmp.Or(c.Lab, virtual.Lab), virtual.Lab)
	add("--server-bin", c.ServerBin, "")
	add("--config", c.Config, "")
	add("--key-prefix", c.KeyPrefix, "")
	add("--modes", modeNames(p.Modes), d.modes)
	if len(p.Faults) > 0 {
		add("--faults", strings.Join(fault.Shorten(p.Faults), ","), d.faults)
	}
	add("--guards", strings.Join(p.Guards, ","), "")
	add("--ttl", p.TTL.String(), d.ttl.String())
	add("--candidates", strconv.Itoa(p.Candidates), "3")
	add("--renew", p.Renew.String(), c.standardRenew().String())
	add("--link", cmp.Or(p.Link, lan), lan)
	add("--loss", strconv.FormatFloat(p.Loss, 'g', -1, 64), "0")
	add("--drift", strconv.FormatFloat(p.Drift, 'g', -1, 64), "0")
	for _, s := range p.Schedules {
		add("--schedule", s.Path, "")
	}
	if c.SLO != nil {
		add("--slo", *c.SLO, "")
	}
	add("--seed", strconv.FormatUint(p.Seed, 10), "1")
	add("--runs", strconv.Itoa(p.Runs), strconv.Itoa(d.runs))
	add("--runs-of", runsOf(p), "")
	return strings.Join(args, " ")
}

// defaults are what flags are when they are not given, which depends on the lab.
type defaults struct {
	modes, faults string
	runs          int
	ttl           time.Duration
}

func (c *compareCommand) defaults() defaults {
	switch {
	case c.isSentinel():
		return defaults{sentinelMode, strings.Join(local.SentinelFaults(), ","), localRuns, defaultTTL}
	case c.isLocal():
		return defaults{defaultModes, localFaults, localRuns, defaultTTL}
	case !c.isRemote():
		return defaults{defaultModes, defaultFaults, defaultRuns, defaultTTL}
	}
	d := defaults{strings.Join(setModes(c.set), ","), remoteFaults, localRuns, c.set.TTL}
	if c.TTL != nil {
		d.ttl = 0 // whatever the file says by then
	}
	if c.Modes != nil {
		d.modes = ""
	}
	return d
}

// modeNames is the value of --modes.
func modeNames(modes []compare.Mode) string {
	var names []string
	for _, m := range modes {
		names = append(names, m.String())
	}
	return strings.Join(names, ",")
}

// runsOf is the value of --runs-of.
func runsOf(p compare.Plan) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.RunsOf)) {
		list = append(list, fmt.Sprintf("%s=%d", name, p.RunsOf[name]))
	}
	return strings.Join(list, ",")
}

// standardRenew is what renewals are without the flag.
func (c *compareCommand) standardRenew() time.Duration {
	if c.isRemote() && c.Renew == 0 {
		return c.set.Renew
	}
	return 0
}
