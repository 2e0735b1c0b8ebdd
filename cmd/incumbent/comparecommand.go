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
	var modes []string
	for _, m := range p.Modes {
		modes = append(modes, m.String())
	}
	args := []string{self() + " compare"}
	add := func(flag, value, standard string) {
		if value != standard {
			args = append(args, flag, compare.ShellWord(value))
		}
	}
	runs, faults := defaultRuns, defaultFaults
	ttl, standard := defaultTTL, defaultModes
	switch {
	case c.isSentinel():
		runs, faults, standard = localRuns, strings.Join(local.SentinelFaults(), ","), sentinelMode
	case c.isLocal():
		runs, faults = localRuns, localFaults
	case c.isRemote():
		runs, faults, ttl = localRuns, remoteFaults, c.set.TTL
		if c.TTL != nil {
			ttl = 0 // whatever the file says by then
		}
		standard = strings.Join(setModes(c.set), ",")
		if c.Modes != nil {
			standard = ""
		}
	}
	add("--lab", cmp.Or(c.Lab, virtual.Lab), virtual.Lab)
	add("--server-bin", c.ServerBin, "")
	add("--config", c.Config, "")
	add("--key-prefix", c.KeyPrefix, "")
	add("--modes", strings.Join(modes, ","), standard)
	if len(p.Faults) > 0 {
		add("--faults", strings.Join(fault.Shorten(p.Faults), ","), faults)
	}
	add("--guards", strings.Join(p.Guards, ","), "")
	add("--ttl", p.TTL.String(), ttl.String())
	add("--candidates", strconv.Itoa(p.Candidates), "3")
	add("--renew", p.Renew.String(), c.standardRenew().String())
	add("--link", cmp.Or(p.Link, virtual.Links()[0].Name), virtual.Links()[0].Name)
	add("--loss", strconv.FormatFloat(p.Loss, 'g', -1, 64), "0")
	add("--drift", strconv.FormatFloat(p.Drift, 'g', -1, 64), "0")
	for _, s := range p.Schedules {
		add("--schedule", s.Path, "")
	}
	if c.SLO != nil {
		add("--slo", *c.SLO, "")
	}
	add("--seed", strconv.FormatUint(p.Seed, 10), "1")
	add("--runs", strconv.Itoa(p.Runs), strconv.Itoa(runs))
	add("--runs-of", runsOf(p), "")
	return strings.Join(args, " ")
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
