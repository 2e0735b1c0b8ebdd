package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/report"
)

// compareCommand is "incumbent compare".
type compareCommand struct {
	Modes      []string      `default:"${default_modes}" placeholder:"MODE" help:"Modes to compare: single, quorum3, quorum5 and so on up to quorum9 (default: ${default})."`
	Faults     []string      `default:"${default_faults}" placeholder:"FAULT" help:"Faults to play, by name (see below), or leader, store or all of them (default: ${default})."`
	Guards     []string      `placeholder:"on,off" help:"Guards of the store: on, off or both (default: both where it matters, else on)."`
	Runs       *int          `placeholder:"N" help:"Runs of each fault in each mode (default: 100, with --quick 25)."`
	Seed       uint64        `default:"1" help:"First seed; the runs of a cell have this one and those that follow (default: ${default})."`
	TTL        time.Duration `name:"ttl" default:"2s" help:"How long a lease lasts, from 100ms to 1h (default: ${default})."`
	Candidates int           `default:"3" help:"How many candidates take part, 2 to 20 (default: ${default})."`
	Lab        string        `default:"virtual" help:"Where to play: virtual is simulated, and one seed gives one history (default: ${default})."`
	Quick      bool          `help:"Fewer runs, for a first look."`
	Quiet      bool          `short:"q" help:"No progress on standard error."`
	Workers    int           `default:"0" placeholder:"N" help:"Processes that play at the same time; 0 means one a core. Changes no figure."`
	Out        string        `short:"o" placeholder:"DIR" help:"Also write summary.json, results.txt (Go benchmark format) and events.jsonl to this directory."`
}

// Help is shown below the flags.
func (compareCommand) Help() string {
	return aboutFaults() + `
Examples:
  incumbent compare --quick
  incumbent compare --faults pause-write --runs 1000 --out results
  incumbent compare --modes single,quorum3 --ttl 15s --seed 7
  incumbent compare --faults store --guards on --runs 2000     evidence for the guards
  go tool -modfile=tools/go.mod benchstat -col /mode -row /fault,/guards results/results.txt

Exit code: 0 all is well; 1 a rule was broken or a run failed (the seed and the command that
replays it are printed); 2 wrong usage; 130 interrupted, after what there was has been written.`
}

// aboutFaults lists all faults, and what they do.
func aboutFaults() string {
	var b strings.Builder
	for _, group := range []string{fault.Leader, fault.Store} {
		fmt.Fprintf(&b, "Faults of the %s:\n", group)
		for _, f := range fault.All() {
			if f.Store == (group == fault.Store) {
				fmt.Fprintf(&b, "  %-17s %s\n", f.Name, f.About)
			}
		}
	}
	return b.String()
}

// Runs of a cell. Two cores play about 200 runs a second of faults of the leader, and
// 100 of those of the store, so that a default comparison of 45 cells takes 45
// seconds, and a quick one twelve.
const (
	defaultRuns = 100
	quickRuns   = 25
)

// Run plays the comparison.
func (c *compareCommand) Run(ctx context.Context, s streams, code *int) error {
	plan, err := c.plan()
	if err != nil {
		*code = usage(s.err, "incumbent compare", fmt.Errorf("compare: --%w", err))
		return nil
	}
	lab, err := c.lab()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	*code, err = c.play(ctx, s, plan, lab)
	return err
}

// plan makes a plan of the flags. The error begins with the flag.
func (c *compareCommand) plan() (compare.Plan, error) {
	p := compare.Plan{Seed: c.Seed, Runs: defaultRuns, TTL: c.TTL, Faults: fault.Expand(c.Faults), Guards: c.Guards, Candidates: c.Candidates}
	if c.Quick {
		p.Runs = quickRuns
	}
	if c.Runs != nil {
		p.Runs = *c.Runs
	}
	for _, text := range c.Modes {
		m, err := compare.ParseMode(text)
		if err != nil {
			return p, fmt.Errorf("modes: %w", err)
		}
		p.Modes = append(p.Modes, m)
	}
	if c.Workers < 0 || c.Workers > maxWorkers {
		return p, fmt.Errorf("workers: %d: must be from 0 to %d", c.Workers, maxWorkers)
	}
	if c.Lab != virtual.Lab {
		return p, fmt.Errorf("lab: %q: must be %s", c.Lab, virtual.Lab)
	}
	return p, p.Validate()
}

// lab makes the lab that the flags ask for.
func (c *compareCommand) lab() (compare.Lab, error) {
	command, err := newWorker()
	if err != nil {
		return nil, err
	}
	return compare.Virtual{Pool: &virtual.Pool{Workers: c.Workers, Command: command}}, nil
}

// play plays a plan and writes what was found. It returns the exit code.
func (c *compareCommand) play(ctx context.Context, s streams, plan compare.Plan, lab compare.Lab) (int, error) {
	var sink compare.Sink
	var dir *report.Dir
	if c.Out != "" {
		var err error
		if dir, err = report.Create(c.Out, plan, lab.Name(), versions()); err != nil {
			return usage(s.err, "incumbent compare", fmt.Errorf("compare: --out: %s: must be a directory that can be written: %w", c.Out, err)), nil
		}
		defer dir.Discard()
		sink = dir.Add
	}
	p := newProgress(s.err, plan, c.Quiet)
	result, err := compare.Run(ctx, plan, lab, p.update, sink)
	p.end()
	if err != nil {
		return exitFailed, err
	}
	return exitCode(result), c.report(s, result, dir)
}

// defaultModes and defaultFaults are those that are compared when no others are
// asked for: of the faults of the store some that are told apart by their guards,
// and one that no guard helps against.
const (
	defaultModes  = "single,quorum3,quorum5"
	defaultFaults = "leader,restart-empty,failover,flushall,clock-jump,old-primary"
)

const maxWorkers = 256

// exitCode: a broken rule is worse than an interrupt.
func exitCode(r *compare.Result) int {
	switch {
	case len(r.Broken) > 0 || len(r.Failed) > 0:
		return exitFailed
	case r.Interrupted:
		return exitInterrupted
	}
	return exitOK
}

// report writes what was found.
func (c *compareCommand) report(s streams, r *compare.Result, dir *report.Dir) error {
	if dir != nil {
		if err := dir.Commit(r); err != nil {
			return fmt.Errorf("writing to %s: %w", c.Out, err)
		}
	}
	var b strings.Builder
	err := report.Table(&b, r, versions())
	b.WriteByte('\n')
	err = errors.Join(err, report.Verdict(&b, r))
	fmt.Fprintf(&b, "\n%s in %.1f s. %s\n", plural(r.Runs, "run"), r.Took.Seconds(), c.next(r))
	_, werr := fmt.Fprint(s.out, b.String())
	return errors.Join(err, werr)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// next is what to do with the result.
func (c *compareCommand) next(r *compare.Result) string {
	switch {
	case len(r.Broken) > 0:
		return "Next: " + r.Broken[0].Job.Command()
	case len(r.Failed) > 0:
		return "Next: " + r.Failed[0].Job.Command()
	case c.Out != "":
		return fmt.Sprintf("Written to %s.\nNext: %s -col /mode -row /fault,/guards %s", c.Out, benchstat, filepath.Join(c.Out, report.ResultsFile))
	}
	return "Next: " + c.again(r.Plan)
}

// benchstat runs from the top of the repository, where its version is pinned.
const benchstat = "go tool -modfile=tools/go.mod benchstat"

// self is how this program is called: "go run" leaves nothing to call again.
func self() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/incumbent"
	}
	return "incumbent"
}

// faultsFlag is a short way to name faults.
func faultsFlag(names []string) string {
	for _, short := range []string{defaultFaults, fault.Every, fault.Store, fault.Leader} {
		if slices.Equal(names, fault.Expand(strings.Split(short, ","))) {
			return short
		}
	}
	return strings.Join(names, ",")
}

// again is the command that plays a plan with other seeds and keeps the results.
func (c *compareCommand) again(p compare.Plan) string {
	var modes []string
	for _, m := range p.Modes {
		modes = append(modes, m.String())
	}
	args := []string{self() + " compare"}
	add := func(flag, value, standard string) {
		if value != standard {
			args = append(args, flag, value)
		}
	}
	add("--modes", strings.Join(modes, ","), defaultModes)
	add("--faults", faultsFlag(p.Faults), defaultFaults)
	add("--guards", strings.Join(p.Guards, ","), "")
	add("--ttl", p.TTL.String(), "2s")
	add("--candidates", strconv.Itoa(p.Candidates), "3")
	add("--seed", strconv.FormatUint(p.Seed+uint64(p.Runs), 10), "")
	add("--runs", strconv.Itoa(max(p.Runs, defaultRuns)), strconv.Itoa(defaultRuns))
	return strings.Join(append(args, "--out results"), " ")
}
