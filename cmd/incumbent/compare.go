package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/report"
	"incumbent/internal/nearest"
)

// compareCommand is "incumbent compare".
type compareCommand struct {
	Modes      []string
	Faults     []string
	Guards     []string
	Runs       *int
	RunsOf     map[string]int
	Seed       uint64
	TTL        *time.Duration
	Candidates int
	conditions
	Schedule []string
	Lab      string
	remoteFlags
	ServerBin string
	Quick     bool
	Quiet     bool
	Workers   int
	SLO       *string
	Table     bool
	Out       string
	Events    string
}

func newCompareCommand(a *app) *cobra.Command {
	k := &compareCommand{Lab: virtual.Lab, Events: string(report.AllEvents)}
	c := &cobra.Command{
		Use: "compare", Short: "Play the same faults to every mode of election, and print what happened.",
		Long: aboutCompare(), Example: compareExample, Args: takes(0),
		RunE: func(*cobra.Command, []string) error { return k.run(a) },
	}
	k.flags(c.Flags())
	completesSeveral(c, "modes", modesOfCompare()...)
	completesSeveral(c, "faults", faultWords()...)
	completesSeveral(c, "guards", "on", "off")
	completesSeveral(c, "runs-of", faultCounts()...)
	completes(c, "link", linkNames()...)
	completes(c, "lab", labNames()...)
	completes(c, "events", eventsToKeep()...)
	return c
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

// run plays the comparison.
func (c *compareCommand) run(a *app) error {
	if c.isRemote() {
		return c.runRemote(a)
	}
	plan, err := c.plan()
	if err != nil {
		return a.misused("compare", fmt.Errorf("--%w", err))
	}
	slo, err := c.limits()
	if err != nil {
		return a.misused("compare", fmt.Errorf("--%w", err))
	}
	if c.isLocal() {
		if plan, err = c.playable(a.streams, plan); err != nil {
			return a.misused("compare", fmt.Errorf("--%w", err))
		}
	}
	lab, err := c.lab()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(a.ctx)
	defer stop()
	a.code, err = c.play(ctx, a.streams, plan, slo, lab)
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
		return p, fmt.Errorf("lab: %q: must be %s, %s, %s or %s%s", c.Lab, virtual.Lab, local.Name, local.SentinelName, remote.Name,
			meant("", c.Lab, []string{virtual.Lab, local.Name, local.SentinelName, remote.Name}))
	}
	if err := c.remoteFlags.misplaced(c.isRemote()); err != nil {
		return p, err
	}
	if c.ServerBin != "" && !c.isLocal() {
		return p, fmt.Errorf("server-bin: %q: is for --lab %s and %s", c.ServerBin, local.Name, local.SentinelName)
	}
	return p, suggested(p.Validate(), p)
}

// suggested asks in an error about the name of a fault which one may have been meant.
func suggested(err error, p compare.Plan) error {
	var field *compare.FieldError
	if !errors.As(err, &field) || field.Field != "faults" && field.Field != "runs-of" {
		return err
	}
	name, _, _ := strings.Cut(strings.Trim(fmt.Sprint(field.Value), `"`), "=")
	known := fault.Names()
	if field.Field == "runs-of" {
		known = p.Faults
	}
	if near := nearest.Of(name, known); near != "" && near != name {
		field.Rule = fmt.Sprintf("did you mean %q? It %s", near, field.Rule)
	}
	return err
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
