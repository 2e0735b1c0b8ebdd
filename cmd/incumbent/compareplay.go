package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/report"
)

// play plays a plan and writes what was found. It returns the exit code.
func (c *compareCommand) play(ctx context.Context, s streams, plan compare.Plan, slo *decide.SLO, lab compare.Lab) (int, error) {
	var sink compare.Sink
	var dir *report.Dir
	if c.Out != "" {
		var err error
		if dir, err = report.Create(c.Out, plan, lab.Name(), versions()); err != nil {
			return usage(s.err, "compare", fmt.Errorf("--out: %s: %w", c.Out, err)), nil
		}
		defer dir.Discard()
		dir.KeepEvents(report.Events(c.Events))
		sink = dir.Add
		if r := dir.Replaced(); len(r) > 0 && !c.Quiet {
			_, _ = fmt.Fprintf(s.err, "%s: replaces %s of an earlier run\n", c.Out, strings.Join(r, ", "))
		}
	}
	p := newProgress(s.err, plan, c.Quiet)
	result, err := compare.Run(ctx, plan, lab, p.update, sink)
	p.end()
	if err != nil {
		return exitFailed, err
	}
	if r, ok := lab.(compare.Remote); ok {
		f := r.Player.Figures()
		result.Remote = &f
	}
	rep := c.judge(result, slo)
	return exitCode(rep), c.write(s, rep, dir)
}

// judge puts a result into a report: with a decision if somebody asked for one.
func (c *compareCommand) judge(r *compare.Result, slo *decide.SLO) report.Report {
	rep := report.Report{Result: r, Versions: versions(), Host: host(), Command: c.command(r.Plan), Next: c.next(r)}
	if slo == nil {
		return rep
	}
	d := decide.Decide(*slo, r)
	rep.Decision = &d
	if d.Next != "" {
		rep.Next = self() + strings.TrimPrefix(d.Next, "incumbent") // what a lab of real processes lacks, the virtual one has
	}
	return rep
}

// host is the machine, in words that tell nobody whose it is.
func host() string {
	return fmt.Sprintf("%s/%s, %s", runtime.GOOS, runtime.GOARCH, plural(runtime.NumCPU(), "core"))
}

// exitCode: a broken rule is worse than an interrupt, and that is worse than an SLO
// that is missed.
func exitCode(rep report.Report) int {
	r := rep.Result
	switch {
	case len(r.Broken) > 0 || len(r.Failed) > 0:
		return exitFailed
	case r.Interrupted:
		return exitInterrupted
	case rep.Decision == nil || rep.Decision.Met:
		return exitOK
	case rep.Decision.Undecided():
		return exitUndecided
	}
	return exitMissed
}

// write writes what was found.
func (c *compareCommand) write(s streams, rep report.Report, dir *report.Dir) error {
	var failed error
	if dir != nil {
		if err := dir.Commit(rep, report.ADR(time.Now())); err != nil {
			failed = fmt.Errorf("writing to %s: %w", c.Out, err) // what was found is shown all the same
		}
	}
	var b strings.Builder
	err := c.print(&b, rep)
	if !c.Quiet {
		// Not among the results, which are the same whenever they are.
		_, _ = fmt.Fprintf(s.err, "%s in %.1f s\n", plural(rep.Result.Runs, "run"), rep.Result.Took.Seconds())
		if dir != nil && failed == nil {
			_, _ = fmt.Fprintf(s.err, "written to %s: open %s\n", c.Out, filepath.Join(c.Out, report.HTMLFile))
		}
	}
	_, werr := fmt.Fprint(s.out, b.String())
	return errors.Join(failed, err, werr)
}

// print prints the first screen, or the table of all cells.
func (c *compareCommand) print(b *strings.Builder, rep report.Report) error {
	defer report.RemoteLines(b, rep.Result.Remote)
	if !c.Table {
		err := report.First(b, rep)
		if len(rep.Result.Broken)+len(rep.Result.Failed) > 0 {
			b.WriteByte('\n')
		}
		return errors.Join(err, report.Trouble(b, rep.Result))
	}
	err := report.Table(b, rep.Result, rep.Versions)
	b.WriteByte('\n')
	if rep.Decision != nil {
		fmt.Fprintf(b, "%s\n\n", rep.Decision.Conclusion())
	}
	err = errors.Join(err, report.Verdict(b, rep.Result))
	_, werr := fmt.Fprintf(b, "\nNext: %s\n", rep.NextStep())
	return errors.Join(err, werr)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// exampleSLO is what somebody may ask for who has not said what is needed.
const exampleSLO = "failover=10s,overlap=0,fence=yes"

// next is the command to go on with: what is wrong first, then what was not played,
// then other seeds, to be kept, and in the end what it is all for.
func (c *compareCommand) next(r *compare.Result) string {
	switch {
	case c.isRemote() && len(r.Broken)+len(r.Failed) > 0:
		return c.command(r.Plan) + c.outFlag("") // no seed plays a run again there
	case len(r.Broken) > 0:
		return self() + strings.TrimPrefix(r.Broken[0].Job.Command(r.Lab), "incumbent")
	case len(r.Failed) > 0:
		return self() + strings.TrimPrefix(r.Failed[0].Job.Command(r.Lab), "incumbent")
	case r.Interrupted || r.GaveUp:
		return c.command(r.Plan) + c.outFlag("")
	}
	p := r.Plan
	p.Seed += uint64(p.MostRuns())
	if !c.isReal() {
		p.Runs = max(p.Runs, defaultRuns)
	}
	command := c.command(p)
	if c.Out != "" && c.SLO == nil && !c.isReal() { // few faults and runs decide nothing
		command += " --slo " + compare.ShellWord(exampleSLO)
	}
	return command + c.outFlag("results")
}

// outFlag is the flag that keeps results, in that folder where none was named.
func (c *compareCommand) outFlag(otherwise string) string {
	if dir := cmp.Or(c.Out, otherwise); dir != "" {
		return " --out " + compare.ShellWord(dir)
	}
	return ""
}

// self is how this program is called: "go run" leaves nothing to call again.
func self() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/incumbent"
	}
	return "incumbent"
}
