package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"incumbent/compare/report"
)

func (c *compareCommand) flags(f *pflag.FlagSet) {
	c.flagsOfWhat(f)
	c.conditions.flags(f)
	f.Var(repeatedFlag(&c.Schedule, "FILE"), "schedule", "Also play the schedule of faults in this YAML file, see docs/examples. May be repeated; "+
		"without --faults only schedules are played.")
	f.Var(textFlag(&c.Lab, "LAB"), "lab", "Where to play: virtual is simulated, and one seed gives one history; local starts real servers and processes "+
		"on this machine; sentinel does so with one primary, whose replicas are promoted by three real Sentinels; remote plays at the Redis "+
		"endpoints of your own configuration, which it asks first.")
	c.remoteFlags.flags(f)
	f.Var(textFlag(&c.ServerBin, "FILE"), "server-bin", "Server program for --lab local and sentinel (default: redis-server or valkey-server, as found).")
	f.BoolVar(&c.Quick, "quick", false, "Fewer runs, for a first look.")
	f.BoolVarP(&c.Quiet, "quiet", "q", false, "No progress on standard error.")
	f.IntVar(&c.Workers, "workers", 0, "Runs that are played at the same time; 0 means one a core, with real servers two, which disturb each other a little.")
	f.Var(optionalFlag(&c.SLO, "LIMITS", asText), "slo", "Say which mode keeps these limits, as in failover=10s,overlap=0,fence=yes,servers<=3 (see above).")
	f.BoolVar(&c.Table, "table", false, "Print a row for each fault, mode and setting of the guards.")
	f.VarP(textFlag(&c.Out, "DIR"), "out", "o", "Also write report.html, report.md, adr.md (a decision record), summary.json, results.txt (Go benchmark format) "+
		"and events.jsonl to this directory.")
	f.Var(choiceFlag(&c.Events, "WHICH", eventsToKeep()...), "events", "Whose events go to events.jsonl: all runs (some 20 kB each), the worst of each cell, or none.")
}

// flagsOfWhat are those of what is played.
func (c *compareCommand) flagsOfWhat(f *pflag.FlagSet) {
	f.Var(severalFlag(&c.Modes, "MODE"), "modes", fmt.Sprintf("Modes to compare: single, quorum3, quorum5 and so on up to quorum9 "+
		"(default: %s; with --lab remote those for which the file has a section).", defaultModes))
	f.Var(severalFlag(&c.Faults, "FAULT"), "faults", fmt.Sprintf("Faults to play, by name (see above), or leader, store or all of them "+
		"(default: %s; with --lab local %s; with --lab sentinel all that it plays; with --lab remote %s).",
		defaultFaults, spaced(localFaults), spaced(remoteFaults)))
	f.Var(severalFlag(&c.Guards, "on|off"), "guards", "Guards of the store: on, off or both (default: both where it matters, else on).")
	f.Var(optionalFlag(&c.Runs, "N", strconv.Atoi), "runs", fmt.Sprintf("Runs of each fault in each mode (default: %d, with --quick %d; in other labs %d and %d).",
		defaultRuns, quickRuns, localRuns, localQuick))
	f.Var(&value{hint: "FAULT=N,...", set: c.addRunsOf}, "runs-of", "Runs of some faults, in place of --runs, as in crash=100,pause=50.")
	f.Uint64Var(&c.Seed, "seed", 1, "First seed; the runs of a cell have this one and those that follow.")
	f.Var(optionalFlag(&c.TTL, "TIME", time.ParseDuration), "ttl", fmt.Sprintf("How long a lease lasts, from 100ms to 1h "+
		"(default: %s; with --lab remote as configured).", defaultTTL))
	f.IntVar(&c.Candidates, "candidates", 3, "How many candidates take part, 2 to 50.")
}

// eventsToKeep are the values of --events.
func eventsToKeep() []string {
	return []string{string(report.AllEvents), string(report.WorstEvents), string(report.NoEvents)}
}

// spaced is a list that the help can break after a comma.
func spaced(list string) string { return strings.ReplaceAll(list, ",", ", ") }

// addRunsOf adds what --runs-of has.
func (c *compareCommand) addRunsOf(text string) error {
	if c.RunsOf == nil {
		c.RunsOf = map[string]int{}
	}
	for entry := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(entry, "=")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			return errors.New("must be FAULT=N, as in crash=100,pause=50")
		}
		c.RunsOf[name] = n
	}
	return nil
}
