package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"incumbent/bench"
)

// benchCommand is "incumbent bench".
type benchCommand struct {
	Modes     []string       `placeholder:"MODE" help:"Modes to measure: single, quorum3, quorum5 (default: all that there are servers for)."`
	Rounds    *int           `placeholder:"N" help:"Rounds, in each of which everything is measured twice; at least 6, and fewer than asked for where they take much longer than --time (default: ${bench_rounds}, with --quick ${bench_quick_rounds})."`
	Time      *time.Duration `placeholder:"TIME" help:"How long to measure, some seconds of preparation apart (default: ${bench_time}, with --quick ${bench_quick_time})."`
	Quick     bool           `help:"Less time and fewer rounds, for a first look."`
	Seed      uint64         `default:"1" help:"What the order within rounds is drawn from (default: ${default})."`
	ServerBin string         `name:"server-bin" placeholder:"FILE" help:"Server program to start (default: redis-server or valkey-server, as found)."`
	Servers   []string       `env:"INCUMBENT_BENCH_REDIS" placeholder:"HOST:PORT" help:"Use these servers, one a master, and start none; redis:// and rediss:// addresses may name a user and a password."`
	Gate      []string       `sep:"none" placeholder:"LIMIT" help:"Fail if an operation does not keep a limit, as in renew/single<=2.5xfloor (see above); may be repeated."`
	Out       string         `short:"o" placeholder:"FILE" help:"Also write all rounds to this file, in Go benchmark format."`
	JSON      bool           `name:"json" help:"Write one JSON object instead of a table."`
	Quiet     bool           `short:"q" help:"No progress on standard error."`
}

// Help is shown below the flags.
func (benchCommand) Help() string {
	return `Measures acquire, renew, release and acquire+release of each mode, the floors (a bare PING, and a lease
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

Examples:
  incumbent bench --quick
  incumbent bench --gate 'renew/single<=2.5xfloor' --gate 'renew<=1commands'
  incumbent bench --out new.txt && incumbent report new.txt --baseline old.txt
  incumbent bench --servers 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379 --modes quorum3

Exit code: 0 all is well; 1 something could not be done; 2 wrong usage; 3 a limit of --gate was missed;
4 none was missed, but one could not be decided; 130 interrupted: nothing is left behind
unless it says so.`
}

// What --quick measures.
const (
	benchQuickRounds = 30
	benchQuickTime   = 5 * time.Second
)

// Run measures and prints.
func (c *benchCommand) Run(ctx context.Context, s streams, code *int) error {
	o, gates, err := c.options()
	if err != nil {
		*code = usage(s.err, "incumbent bench", fmt.Errorf("bench: --%w", err))
		return nil
	}
	c.announce(s.err, o)
	logging.Disable() // go-redis says again what errors say
	ctx, stop := interruptible(ctx)
	defer stop()
	progress := newBenchProgress(s.err, c.Quiet)
	o.Progress = progress.update
	r, err := bench.Run(ctx, o)
	progress.end()
	switch {
	case ctx.Err() != nil:
		*code = exitInterrupted
		benchInterrupted(s.err, err)
		return nil
	case err != nil:
		return fmt.Errorf("bench: %w", err)
	}
	return c.finish(s, r, gates, code)
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
func (c *benchCommand) finish(s streams, r *bench.Result, gates []bench.Gate, code *int) error {
	outcomes := bench.Check(r, gates)
	if err := c.print(s.out, r, outcomes); err != nil {
		return err
	}
	if err := c.save(r); err != nil {
		return err
	}
	*code = benchCodes[bench.Worst(outcomes)]
	for _, o := range outcomes {
		if o.Status != bench.Passed { // in a log it is the last line
			_, _ = fmt.Fprintf(s.err, "incumbent: bench: gate %s: %s: %s: %s\n", o.Gate, o.Status, o.Op, o.Text)
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
