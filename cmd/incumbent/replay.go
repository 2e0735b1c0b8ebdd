package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

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
	Seeds      []uint64      `arg:"" name:"seed" help:"Seeds of the runs to show."`
	Mode       string        `default:"single" placeholder:"MODE" help:"single, quorum3, quorum5 and so on up to quorum9 (default: ${default})."`
	Fault      string        `default:"crash" placeholder:"FAULT" help:"Which fault to play, see incumbent compare --help (default: ${default})."`
	Guards     string        `default:"on" placeholder:"on,off" help:"Guards of the store: on or off (default: ${default})."`
	TTL        time.Duration `name:"ttl" default:"2s" help:"How long a lease lasts, from 100ms to 1h (default: ${default})."`
	Candidates int           `default:"3" help:"How many candidates take part, 2 to 50 (default: ${default})."`
	conditions `embed:""`
	Schedule   string `placeholder:"FILE" help:"Play the schedule of faults in this YAML file, not one fault."`
	Events     bool   `help:"Print the events as JSON lines instead of a timeline, as they stand in events.jsonl."`
}

// Help is shown below the flags.
func (replayCommand) Help() string {
	return `A seed and the same flags give the same run, byte for byte, on any machine: incumbent compare
prints the command for each broken rule.

Marks in the timeline: * a fault strikes, - it is healed, ! somebody acts or believes beside a later
leader.

Examples:
  incumbent replay 7 --mode quorum3 --fault restart-empty --guards off
  incumbent replay 1 2 3 --fault pause-write
  incumbent replay 1 --mode quorum5 --schedule docs/examples/restart-during-pause.yaml
  incumbent replay 4 --fault calm --events | jq -c 'select(.kind == "renewed")'

Exit code: 0 all rules were kept; 1 one was broken, or a run could not be played; 2 wrong usage;
130 interrupted.`
}

// Run plays the seeds, one after the other.
func (c *replayCommand) Run(ctx context.Context, s streams, code *int) error {
	jobs, err := c.jobs()
	if err != nil {
		*code = usage(s.err, "incumbent replay", fmt.Errorf("replay: --%w", err))
		return nil
	}
	command, err := newWorker()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r := &replay{command: c, out: s.out, jobs: jobs}
	lab := compare.Virtual{Pool: &virtual.Pool{Workers: 1, Command: command}}
	err = lab.Play(ctx, jobs, r.done)
	switch {
	case r.broken:
		*code = exitFailed
	case ctx.Err() != nil:
		*code, err = exitInterrupted, nil
	}
	return errors.Join(err, r.err)
}

// jobs are those that the flags ask for. The error begins with the flag.
func (c *replayCommand) jobs() ([]compare.Job, error) {
	m, err := compare.ParseMode(c.Mode)
	if err != nil {
		return nil, fmt.Errorf("mode: %w", err)
	}
	p := compare.Plan{
		Runs: 1, TTL: c.TTL, Modes: []compare.Mode{m}, Faults: []string{c.Fault}, Guards: []string{c.Guards}, Candidates: c.Candidates,
		Renew: c.Renew, Link: c.link(), Loss: c.Loss, Drift: c.Drift,
	}
	if c.Schedule != "" {
		s, err := fault.ReadSchedule(c.Schedule)
		if err != nil {
			return nil, fmt.Errorf("schedule: %w", err)
		}
		p.Faults, p.Schedules = nil, []fault.Schedule{s}
	}
	if err := p.Validate(); err != nil {
		var field *compare.FieldError
		if errors.As(err, &field) && field.Field == "faults" {
			field.Field = "fault"
		}
		return nil, err
	}
	var jobs []compare.Job
	for _, seed := range c.Seeds {
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
