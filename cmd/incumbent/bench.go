package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"incumbent/bench"
)

// benchCommand is "incumbent bench".
type benchCommand struct {
	Modes     []string
	Rounds    *int
	Time      *time.Duration
	Quick     bool
	Seed      uint64
	ServerBin string
	Servers   []string
	Gate      []string
	Out       string
	JSON      bool
	Quiet     bool
}

func newBenchCommand(a *app) *cobra.Command {
	var b benchCommand
	c := &cobra.Command{
		Use: "bench", Short: "Measure what elections cost on real servers, beside what a lease costs at least.",
		Long: aboutBench, Example: benchExample, Args: takes(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if v := os.Getenv("INCUMBENT_BENCH_REDIS"); v != "" && !c.Flags().Changed("servers") {
				b.Servers = strings.Split(v, ",")
			}
			return b.run(a)
		},
	}
	b.flags(c.Flags())
	completesSeveral(c, "modes", modesOfBench()...)
	return c
}

func (c *benchCommand) flags(f *pflag.FlagSet) {
	f.Var(severalFlag(&c.Modes, "MODE"), "modes", "Modes to measure: single, quorum3, quorum5 (default: all that there are servers for).")
	f.Var(optionalFlag(&c.Rounds, "N", strconv.Atoi), "rounds", fmt.Sprintf("Rounds, in each of which everything is measured twice; at least %d, and fewer "+
		"than asked for where they take much longer than --time (default: %d, with --quick %d).", bench.MinRounds, bench.DefaultRounds, benchQuickRounds))
	f.Var(optionalFlag(&c.Time, "TIME", time.ParseDuration), "time", fmt.Sprintf("How long to measure, some seconds of preparation apart "+
		"(default: %s, with --quick %s).", bench.DefaultTime, benchQuickTime))
	f.BoolVar(&c.Quick, "quick", false, "Less time and fewer rounds, for a first look.")
	f.Uint64Var(&c.Seed, "seed", 1, "What the order within rounds is drawn from.")
	f.Var(textFlag(&c.ServerBin, "FILE"), "server-bin", "Server program to start (default: redis-server or valkey-server, as found).")
	f.Var(severalFlag(&c.Servers, "HOST:PORT"), "servers", "Use these servers, one a master, and start none; redis:// and rediss:// addresses "+
		"may name a user and a password ($INCUMBENT_BENCH_REDIS).")
	f.Var(repeatedFlag(&c.Gate, "LIMIT"), "gate", "Fail if an operation does not keep a limit, as in renew/single<=2.5xfloor (see above); may be repeated.")
	f.VarP(textFlag(&c.Out, "FILE"), "out", "o", "Also write all rounds to this file, in Go benchmark format.")
	f.BoolVar(&c.JSON, "json", false, "Write one JSON object instead of a table.")
	f.BoolVarP(&c.Quiet, "quiet", "q", false, "No progress on standard error.")
}

const benchExample = `  incumbent bench --quick
  incumbent bench --gate 'renew/single<=2.5xfloor' --gate 'renew<=1commands'
  incumbent bench --out new.txt && incumbent report new.txt --baseline old.txt
  incumbent bench --servers 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379 --modes quorum3`

const aboutBench = `Measures acquire, renew, release and acquire+release of each mode, the floors (a bare PING, and a lease
written by hand with go-redis) and redsync, all in one run. In every round each operation is timed
in two short blocks, A and A', in an order that is drawn anew. How far A and A' come out apart is
the noise of this very run. Commands, bytes and allocations are counted apart from the timing.

By default servers are started on loopback, as many as the modes need, and ended. On servers of
yours only keys below "incumbent-bench" are written, and they are removed. Their counts include
other clients: where they differ from what this client counted, both are shown.

A limit for --gate is OPERATION<=NUMBER UNIT, or OPERATION/MODE<=... for one mode only. The unit is
xfloor (the operation's time over that of its floor), ns, us, ms, s, allocs, or commands (sent to
one master). A time passes or fails only beyond its 95 % interval and the noise of the run; closer
to the limit the gate is inconclusive. Quote it, since the shell has its own use for "<".

Exit code: 0 all is well; 1 something could not be done; 2 wrong usage; 3 a limit of --gate was missed;
4 none was missed, but one could not be decided; 130 interrupted: nothing is left behind
unless it says so.`

// What --quick measures.
const (
	benchQuickRounds = 30
	benchQuickTime   = 5 * time.Second
)

// run measures and prints.
func (c *benchCommand) run(a *app) error {
	o, gates, err := c.options()
	if err != nil {
		return a.misused("bench", fmt.Errorf("--%w", err))
	}
	c.announce(a.err, o)
	logging.Disable() // go-redis says again what errors say
	ctx, stop := interruptible(a.ctx)
	defer stop()
	progress := newBenchProgress(a.err, c.Quiet)
	o.Progress = progress.update
	r, err := bench.Run(ctx, o)
	progress.end()
	switch {
	case ctx.Err() != nil:
		a.code = exitInterrupted
		benchInterrupted(a.err, err)
		return nil
	case err != nil:
		return fmt.Errorf("bench: %w", err)
	}
	return c.finish(a, r, gates)
}

// benchInterrupted says that a run was interrupted, and what may be left of it.
func benchInterrupted(w io.Writer, err error) {
	_, _ = fmt.Fprintln(w, "incumbent: bench: interrupted")
	var left *bench.CleanError
	if errors.As(err, &left) {
		why := slices.Compact(strings.Split(left.Err.Error(), "\n")) // one for each operation
		_, _ = fmt.Fprintf(w, "incumbent: bench: keys below %q or servers may be left: %s\n", bench.Prefix, strings.Join(why, "; "))
	}
}

// finish decides the gates and writes everything.
func (c *benchCommand) finish(a *app, r *bench.Result, gates []bench.Gate) error {
	outcomes := bench.Check(r, gates)
	if err := c.print(a.out, r, outcomes); err != nil {
		return err
	}
	if err := c.save(r); err != nil {
		return err
	}
	a.code = benchCodes[bench.Worst(outcomes)]
	for _, o := range outcomes {
		if o.Status != bench.Passed { // in a log it is the last line
			_, _ = fmt.Fprintf(a.err, "incumbent: bench: gate %s: %s: %s: %s\n", o.Gate, o.Status, o.Op, o.Text)
		}
	}
	return nil
}

// benchCodes are the exit codes of what gates decide.
var benchCodes = map[bench.Status]int{bench.Passed: exitOK, bench.Missed: exitMissed, bench.Inconclusive: exitUndecided}

// benchFlags are the flags of the options of package bench.
var benchFlags = map[string]string{"Rounds": "rounds", "Time": "time", "Servers": "servers", "ServerBin": "server-bin"}

// print writes the result for people, or for programs.
func (c *benchCommand) print(w io.Writer, r *bench.Result, outcomes []bench.Outcome) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(struct {
			Versions string `json:"versions"`
			*bench.Result
			Gates []bench.Outcome `json:"gates"`
		}{versions(), r, outcomes})
	}
	if err := r.WriteTable(w, versionList()...); err != nil {
		return err
	}
	if len(outcomes) > 0 {
		_, _ = fmt.Fprintln(w) // the next line has the error, if there is one
	}
	for _, o := range outcomes {
		if _, err := fmt.Fprintf(w, "gate %s: %s: %s: %s\n", o.Gate, o.Status, o.Op, o.Text); err != nil {
			return err
		}
	}
	return nil
}

// save writes the file that --out names. What could be written only in part is removed.
func (c *benchCommand) save(r *bench.Result) error {
	if c.Out == "" {
		return nil
	}
	f, err := os.Create(c.Out)
	if err != nil {
		return err
	}
	err = errors.Join(r.WriteBench(f, versions()), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(c.Out))
	}
	return nil
}
