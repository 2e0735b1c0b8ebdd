package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/compare/lab/virtual"
)

// compareCommand is "incumbent compare".
type compareCommand struct {
	Modes      []string       `placeholder:"MODE" help:"Modes to compare: single, quorum3, quorum5 and so on up to quorum9 (default: ${default_modes}; with --lab remote those for which the file has a section)."`
	Faults     []string       `placeholder:"FAULT" help:"Faults to play, by name (see below), or leader, store or all of them (default: ${default_faults}; with --lab local ${local_faults}; with --lab sentinel all that it plays; with --lab remote ${remote_faults})."`
	Guards     []string       `placeholder:"on,off" help:"Guards of the store: on, off or both (default: both where it matters, else on)."`
	Runs       *int           `placeholder:"N" help:"Runs of each fault in each mode (default: ${default_runs}, with --quick ${quick_runs}; in other labs ${local_runs} and ${local_quick})."`
	RunsOf     map[string]int `mapsep:"," placeholder:"FAULT=N" help:"Runs of some faults, in place of --runs, as in crash=100,pause=50."`
	Seed       uint64         `default:"1" help:"First seed; the runs of a cell have this one and those that follow (default: ${default})."`
	TTL        *time.Duration `name:"ttl" placeholder:"TIME" help:"How long a lease lasts, from 100ms to 1h (default: 2s; with --lab remote as configured)."`
	Candidates int            `default:"3" help:"How many candidates take part, 2 to 50 (default: ${default})."`
	conditions `embed:""`
	Schedule   []string `sep:"none" placeholder:"FILE" help:"Also play the schedule of faults in this YAML file, see docs/examples. May be repeated; without --faults only schedules are played."`
	Lab        string   `default:"virtual" help:"Where to play: virtual is simulated, and one seed gives one history; local starts real servers and processes on this machine; sentinel does so with one primary, whose replicas are promoted by three real Sentinels; remote plays at the Redis endpoints of your own configuration, which it asks first (default: ${default})."`
	remoteFlags
	ServerBin string  `name:"server-bin" placeholder:"FILE" help:"Server program for --lab local and sentinel (default: redis-server or valkey-server, as found)."`
	Quick     bool    `help:"Fewer runs, for a first look."`
	Quiet     bool    `short:"q" help:"No progress on standard error."`
	Workers   int     `default:"0" placeholder:"N" help:"Runs that are played at the same time; 0 means one a core, with real servers two, which disturb each other a little."`
	SLO       *string `name:"slo" placeholder:"LIMITS" help:"Say which mode keeps these limits, as in failover=10s,overlap=0,fence=yes,servers<=3 (see below)."`
	Table     bool    `help:"Print a row for each fault, mode and setting of the guards."`
	Out       string  `short:"o" placeholder:"DIR" help:"Also write report.html, report.md, adr.md (a decision record), summary.json, results.txt (Go benchmark format) and events.jsonl to this directory."`
	Events    string  `default:"all" enum:"all,worst,none" placeholder:"WHICH" help:"Whose events go to events.jsonl: all runs (some 20 kB each), the worst of each cell, or none (default: ${default})."`
}

// Help is shown below the flags.
func (compareCommand) Help() string {
	return aboutFaults() + `
Which lab plays what: virtual all of them; local all but suspend, and clock-back and clock-jump only
where libfaketime is installed; sentinel, in mode single, failover, failover-twice, failover-acks,
old-primary and old-primary-acks; remote those that strike candidates and their connections, never a
server: calm, resign, crash, pause, pause-write, partition, slow-link, lossy-link, master-partition,
partition-majority, lost-reply. See docs/remote.md.

Examples:
  incumbent compare --quick
  incumbent compare --out results                              then open results/report.html
  incumbent compare --slo 'failover=10s,overlap=0,fence=yes' --ttl 9s
  incumbent compare --faults pause-write --runs 1000 --table
  incumbent compare --modes single,quorum3 --link zone --loss 0.01 --drift 0.5
  incumbent compare --faults store --guards on --runs 2000     evidence for the guards
  incumbent compare --faults random --runs 5000                schedules of 3 to 8 faults
  incumbent compare --schedule docs/examples/restart-during-pause.yaml
  incumbent compare --lab local --ttl 1s --faults crash,pause --runs 5 --runs-of crash=50
  incumbent compare --lab sentinel --ttl 1s                    promotions by real Sentinels
  incumbent compare --lab remote --config incumbent.yaml --dry-run
  incumbent compare --lab remote --config incumbent.yaml --ttl 2s --out results
  incumbent report results/results.txt                         medians and p-values

Limits for --slo, separated by commas:
` + decide.About() + `
Exit code: 0 all is well; 1 a rule was broken or a run failed (the seed and the command that
replays it are printed); 2 wrong usage; 3 no mode keeps the limits of --slo; 4 too little was played
to tell; 130 interrupted, after what there was has been written.`
}

// aboutFaults lists all faults, and what they do.
func aboutFaults() string {
	var b strings.Builder
	for _, group := range []string{fault.Leader, fault.Store} {
		fmt.Fprintf(&b, "Faults of the %s:\n", group)
		for _, f := range fault.All() {
			if f.Store == (group == fault.Store) {
				fmt.Fprintf(&b, "  %-18s %s\n", f.Name, f.About)
			}
		}
	}
	return b.String()
}

// What is compared when nothing else is asked for.
const (
	defaultModes  = "single,quorum3,quorum5"
	defaultFaults = fault.Every
	defaultRuns   = 100
	quickRuns     = 20
	defaultTTL    = 2 * time.Second
)

// The same with real processes, where a run takes seconds.
const (
	localFaults = "resign,crash,pause,pause-write,partition,restart-empty,failover"
	localRuns   = 10
	localQuick  = 3
	localWorker = 2
)

// sentinelMode is the mode of elections at a primary that Sentinels watch.
const sentinelMode = "single"

// What is played at endpoints of the user's own.
const remoteFaults = "resign,crash,pause,pause-write,partition"

// isLocal reports whether servers and processes of this machine are asked for.
func (c *compareCommand) isLocal() bool { return c.Lab == local.Name || c.isSentinel() }

// isSentinel reports whether Sentinels are to promote replicas.
func (c *compareCommand) isSentinel() bool { return c.Lab == local.SentinelName }

// isRemote reports whether the user's own endpoints are meant.
func (c *compareCommand) isRemote() bool { return c.Lab == remote.Name }

// isReal reports whether real processes play, so that runs take seconds.
func (c *compareCommand) isReal() bool { return c.isLocal() || c.isRemote() }

// faults are those that the flags ask for: none where there are schedules instead.
func (c *compareCommand) faults() []string {
	switch {
	case len(c.Faults) > 0:
		return fault.Expand(c.Faults)
	case len(c.Schedule) > 0:
		return nil
	case c.isSentinel():
		return local.SentinelFaults()
	case c.isLocal():
		return strings.Split(localFaults, ",")
	case c.isRemote():
		return strings.Split(remoteFaults, ",")
	}
	return fault.Group(defaultFaults)
}

// runs is how many a cell has.
func (c *compareCommand) runs() int {
	switch {
	case c.Runs != nil:
		return *c.Runs
	case c.isReal() && c.Quick:
		return localQuick
	case c.isReal():
		return localRuns
	case c.Quick:
		return quickRuns
	}
	return defaultRuns
}

const maxWorkers = 256

// Run plays the comparison.
func (c *compareCommand) Run(ctx context.Context, s streams, code *int) error {
	if c.isRemote() {
		return c.runRemote(ctx, s, code)
	}
	plan, err := c.plan()
	if err != nil {
		*code = usage(s.err, "incumbent compare", fmt.Errorf("compare: --%w", err))
		return nil
	}
	slo, err := c.limits()
	if err != nil {
		*code = usage(s.err, "incumbent compare", fmt.Errorf("compare: --%w", err))
		return nil
	}
	if c.isLocal() {
		if plan, err = c.playable(s, plan); err != nil {
			*code = usage(s.err, "incumbent compare", fmt.Errorf("compare: --%w", err))
			return nil
		}
	}
	lab, err := c.lab()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	*code, err = c.play(ctx, s, plan, slo, lab)
	return err
}

// limits reads --slo; nil where it was not given. An empty one, as of a variable that is
// not set, is an error: it would be met by everything. The error begins with the flag.
func (c *compareCommand) limits() (*decide.SLO, error) {
	if c.SLO == nil {
		return nil, nil
	}
	slo, err := decide.Parse(*c.SLO)
	if err != nil {
		return nil, err // which begins with slo
	}
	return &slo, nil
}

// plan makes a plan of the flags. The error begins with the flag.
func (c *compareCommand) plan() (compare.Plan, error) {
	p := compare.Plan{
		Seed: c.Seed, Runs: c.runs(), RunsOf: c.RunsOf, TTL: c.ttl(), Faults: c.faults(), Guards: c.Guards, Candidates: c.Candidates,
		Renew: c.Renew, Link: c.link(), Loss: c.Loss, Drift: c.Drift,
	}
	var err error
	if p.Modes, err = c.modes(); err != nil {
		return p, err
	}
	for _, path := range c.Schedule {
		s, err := fault.ReadSchedule(path)
		if err != nil {
			return p, fmt.Errorf("schedule: %w", err)
		}
		p.Schedules = append(p.Schedules, s)
	}
	if c.Workers < 0 || c.Workers > maxWorkers {
		return p, fmt.Errorf("workers: %d: must be from 0 to %d", c.Workers, maxWorkers)
	}
	if c.Lab != virtual.Lab && !c.isReal() {
		return p, fmt.Errorf("lab: %q: must be %s, %s, %s or %s", c.Lab, virtual.Lab, local.Name, local.SentinelName, remote.Name)
	}
	if err := c.remoteFlags.misplaced(c.isRemote()); err != nil {
		return p, err
	}
	if c.ServerBin != "" && !c.isLocal() {
		return p, fmt.Errorf("server-bin: %q: is for --lab %s and %s", c.ServerBin, local.Name, local.SentinelName)
	}
	return p, p.Validate()
}

// ttl is how long leases last.
func (c *compareCommand) ttl() time.Duration {
	if c.TTL != nil {
		return *c.TTL
	}
	return defaultTTL
}

// modes are those to compare. The error begins with the flag.
func (c *compareCommand) modes() (list []compare.Mode, err error) {
	names := c.Modes
	switch {
	case names != nil:
	case c.isSentinel():
		names = []string{sentinelMode}
	default:
		names = strings.Split(defaultModes, ",")
	}
	for _, text := range names {
		m, err := compare.ParseMode(text)
		if err != nil {
			return nil, fmt.Errorf("modes: %w", err)
		}
		if c.isSentinel() && text != sentinelMode {
			return nil, fmt.Errorf("modes: %s: Sentinels watch one primary, as in mode %s", text, sentinelMode)
		}
		list = append(list, m)
	}
	return list, nil
}

// player plays with real servers.
func (c *compareCommand) player() *local.Player {
	return &local.Player{ServerBinary: c.ServerBin, Workers: cmp.Or(c.Workers, localWorker), Sentinels: c.isSentinel()}
}

// playable leaves out of a plan what real processes cannot play here, and says so.
func (c *compareCommand) playable(s streams, p compare.Plan) (compare.Plan, error) {
	lab := compare.Local{Player: c.player()}
	if err := lab.Player.Ready(); err != nil {
		return p, fmt.Errorf("server-bin: %w", err)
	}
	p, reasons := lab.Playable(p)
	if len(p.Faults)+len(p.Schedules) == 0 {
		return p, fmt.Errorf("faults: nothing can be played: %w", errors.Join(reasons...))
	}
	for _, r := range reasons {
		_, _ = fmt.Fprintf(s.err, "left out: %v\n", r)
	}
	return p, nil
}

// lab makes the lab that the flags ask for.
func (c *compareCommand) lab() (compare.Lab, error) {
	if c.isLocal() {
		return compare.Local{Player: c.player()}, nil
	}
	command, err := newWorker()
	if err != nil {
		return nil, err
	}
	return compare.Virtual{Pool: &virtual.Pool{Workers: c.Workers, Command: command}}, nil
}
