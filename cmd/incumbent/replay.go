package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
	"incumbent/compare/measure"
	"incumbent/compare/report"
	"incumbent/compare/timeline"
)

// replayCommand is "incumbent replay".
type replayCommand struct {
	Seeds      []uint64
	Mode       string
	Fault      string
	Guards     string
	TTL        time.Duration
	Candidates int
	conditions
	Schedule string
	Events   bool
}

func newReplayCommand(a *app) *cobra.Command {
	r := replayCommand{Mode: "single", Fault: "crash", Guards: "on"}
	c := &cobra.Command{
		Use: "replay SEED...", Short: "Show one run of a comparison, step by step.",
		Long: aboutReplay, Example: replayExample, Args: takes(1, "SEED..."),
		RunE: func(c *cobra.Command, args []string) error {
			for _, text := range args {
				seed, err := strconv.ParseUint(text, 10, 64)
				if err != nil {
					return a.misused("replay", fmt.Errorf("SEED: %q: %s", text, ruleOf(err)))
				}
				r.Seeds = append(r.Seeds, seed)
			}
			return r.run(a)
		},
	}
	r.flags(c.Flags())
	completes(c, "mode", modesOfCompare()...)
	completes(c, "fault", faultNames()...)
	completes(c, "guards", "on", "off")
	completes(c, "link", linkNames()...)
	return c
}

func (r *replayCommand) flags(f *pflag.FlagSet) {
	f.Var(textFlag(&r.Mode, "MODE"), "mode", "single, quorum3, quorum5 and so on up to quorum9.")
	f.Var(textFlag(&r.Fault, "FAULT"), "fault", "Which fault to play, see incumbent compare --help.")
	f.Var(textFlag(&r.Guards, "on|off"), "guards", "Guards of the store: on or off.")
	f.DurationVar(&r.TTL, "ttl", defaultTTL, "How long a lease lasts, from 100ms to 1h.")
	f.IntVar(&r.Candidates, "candidates", 3, "How many candidates take part, 2 to 50.")
	r.conditions.flags(f)
	f.Var(textFlag(&r.Schedule, "FILE"), "schedule", "Play the schedule of faults in this YAML file, not one fault.")
	f.BoolVar(&r.Events, "events", false, "Print the events as JSON lines instead of a timeline, as they stand in events.jsonl.")
}

const replayExample = `  incumbent replay 7 --mode quorum3 --fault restart-empty --guards off
  incumbent replay 1 2 3 --fault pause-write
  incumbent replay 1 --mode quorum5 --schedule docs/examples/restart-during-pause.yaml
  incumbent replay 4 --fault calm --events | jq -c 'select(.kind == "renewed")'`

const aboutReplay = `A seed and the same flags give the same run, byte for byte, on any machine: incumbent compare
prints the command for each broken rule.

Marks in the timeline: * a fault strikes, - it is healed, ! somebody acts or believes beside a later
leader.

Exit code: 0 all rules were kept; 1 one was broken, or a run could not be played; 2 wrong usage;
130 interrupted.`

// run plays the seeds, one after the other.
func (r *replayCommand) run(a *app) error {
	jobs, err := r.jobs()
	if err != nil {
		return a.misused("replay", fmt.Errorf("--%w", err))
	}
	command, err := newWorker()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(a.ctx)
	defer stop()
	shown := &replay{command: r, out: a.out, jobs: jobs}
	lab := compare.Virtual{Pool: &virtual.Pool{Workers: 1, Command: command}}
	err = lab.Play(ctx, jobs, shown.done)
	switch {
	case shown.broken:
		a.code = exitFailed
	case ctx.Err() != nil:
		a.code, err = exitInterrupted, nil
	}
	return errors.Join(err, shown.err)
}

// jobs are those that the flags ask for. The error begins with the flag.
func (r *replayCommand) jobs() ([]compare.Job, error) {
	m, err := compare.ParseMode(r.Mode)
	if err != nil {
		return nil, fmt.Errorf("mode: %w", err)
	}
	p := compare.Plan{
		Runs: 1, TTL: r.TTL, Modes: []compare.Mode{m}, Faults: []string{r.Fault}, Guards: []string{r.Guards}, Candidates: r.Candidates,
		Renew: r.Renew, Link: r.link(), Loss: r.Loss, Drift: r.Drift,
	}
	if r.Schedule != "" {
		s, err := fault.ReadSchedule(r.Schedule)
		if err != nil {
			return nil, fmt.Errorf("schedule: %w", err)
		}
		p.Faults, p.Schedules = nil, []fault.Schedule{s}
	}
	if err := suggested(p.Validate(), p); err != nil {
		var field *compare.FieldError
		if errors.As(err, &field) && field.Field == "faults" {
			field.Field = "fault"
		}
		return nil, err
	}
	var jobs []compare.Job
	for _, seed := range r.Seeds {
		p.Seed = seed
		jobs = append(jobs, p.Jobs()...)
	}
	return jobs, nil
}

// replay shows runs as they come.
type replay struct {
	command *replayCommand
	out     io.Writer
	jobs    []compare.Job
	broken  bool  // a rule
	err     error // what could not be played or written
}

// done shows one run.
func (r *replay) done(i int, run history.Run, err error) {
	switch {
	case err != nil:
		r.err = errors.Join(r.err, err)
		return
	case r.command.Events:
		err = report.EventLines(r.out, run)
	default:
		if i > 0 {
			_, err = fmt.Fprintf(r.out, "\n\n")
		}
		err = errors.Join(err, timeline.Write(r.out, run))
	}
	r.broken = r.broken || len(measure.Check(run)) > 0
	r.err = errors.Join(r.err, err)
}
