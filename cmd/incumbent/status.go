package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"incumbent/config"
)

// statusCommand is "incumbent status".
type statusCommand struct {
	*settings
	election string
	json     bool
	watch    time.Duration // 0: look once
}

func newStatusCommand(a *app) *cobra.Command {
	var s statusCommand
	c := &cobra.Command{
		Use: "status ELECTION", Short: "Say who leads, or why nobody does, and what each master keeps.",
		Long: aboutStatus, Example: statusExample, Args: oneAndNoInterval,
		RunE: func(c *cobra.Command, args []string) error {
			s.election = args[0]
			return s.run(a, c)
		},
	}
	c.Flags().BoolVar(&s.json, "json", false, "Write one JSON object instead of lines; with --watch, one a line.")
	c.Flags().DurationVar(&s.watch, "watch", 0, "Look again each `INTERVAL`, until it is stopped; alone 1s, another one after \"=\", as in --watch=5s.")
	c.Flags().Lookup("watch").NoOptDefVal = "1s"
	s.settings = newSettings(c.Flags())
	return c
}

// oneAndNoInterval wants one argument. An interval after "--watch" without "=" is another one.
func oneAndNoInterval(c *cobra.Command, args []string) error {
	for _, a := range args {
		if _, err := time.ParseDuration(a); err == nil && len(args) == 2 && c.Flags().Changed("watch") {
			return fmt.Errorf("unexpected argument %q: did you mean --watch=%s?", a, a)
		}
	}
	return takes(1, "ELECTION")(c, args)
}

const statusExample = `  incumbent status bridge-health --config incumbent.yaml
  incumbent status bridge-health --config incumbent.yaml --watch
  incumbent status bridge-health --config incumbent.yaml --json | jq -r .cause`

const aboutStatus = `ELECTION is its name, as the service gives it.

It asks each master what it keeps, and writes nothing. The first line is the answer: who leads, or
what keeps anybody from leading. Who leads is said by the masters, whose news are up to a TTL old;
what a process may do is said by its own term and by the fence.

With --json: "result" is leads, nobody, two, unknown or misfit; "cause" is a word that never
changes:
  leads
  never-elected, released, expired, vacant        the lease is free, and nobody takes it
  guards-wait, kept-for-heir                      nobody is granted it for a while
  votes-split, too-few-votes, not-sealed          candidates hold some masters, none leads yet
  no-expiry, foreign-key                          a lease that no candidate wrote
  two-leaders                                     two stores have a leader each (mode both)
  too-few-answers                                 it cannot be told
  unreachable, auth, permission, tls, read-only, same-server, ... (as in incumbent check)

Exit code: 0 somebody leads; 3 nobody leads; 1 cannot tell: too few masters answer, or two lead, and
the first line begins with TWO LEADERS; 2 wrong usage, wrong configuration, or servers that refuse
it for good; 130 interrupted. With --watch: that of the last look, when it is stopped by a signal.`

// run looks once, or again and again.
func (s *statusCommand) run(a *app, c *cobra.Command) error {
	ctx, stop := interruptible(a.ctx)
	defer stop()
	if c.Flags().Changed("watch") && s.watch < 100*time.Millisecond {
		return a.misused("status", fmt.Errorf("--watch: %s: must be at least 100ms", s.watch))
	}
	cfg, ok := s.open(a, "status")
	if !ok {
		return nil
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // what it would say of servers is in the report
	client, err := cfg.Connect()
	if err != nil {
		a.code = misconfigured(a.err, "status", err)
		return nil
	}
	defer func() { _ = client.Close() }() // nothing was done with it
	for first := true; ; first = false {
		r, err := s.look(ctx, cfg, client)
		switch {
		case ctx.Err() != nil && first:
			return a.interrupted("status")
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return a.misused("status", err)
		}
		a.code = r.code()
		if err := s.write(a.out, r); err != nil {
			return err
		}
		if s.watch == 0 || !pauseFor(ctx, s.watch) {
			return nil
		}
	}
}

// look asks the masters.
func (s *statusCommand) look(ctx context.Context, cfg *config.Config, client *config.Client) (*statusReport, error) {
	sent := time.Now()
	state, err := client.Inspect(ctx, s.election)
	if err != nil {
		return nil, err
	}
	return newStatusReport(s.election, cfg, state, time.Since(sent)), nil
}

// write writes a report. On a terminal it takes the place of the one before.
func (s *statusCommand) write(w io.Writer, r *statusReport) error {
	switch {
	case s.json:
		return json.NewEncoder(w).Encode(r)
	case s.watch > 0 && isTerminal(w):
		if _, err := io.WriteString(w, "\x1b[H\x1b[2J"); err != nil {
			return err
		}
	}
	if s.watch > 0 {
		if _, err := fmt.Fprintln(w, time.Now().Format(time.DateTime)); err != nil {
			return err
		}
	}
	err := r.print(w)
	if err == nil && s.watch > 0 && !isTerminal(w) {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

// interrupted says that a command was, and sets the exit code. It returns nil, for RunE.
func (a *app) interrupted(command string) error {
	a.code = exitInterrupted
	_, _ = fmt.Fprintf(a.err, "incumbent: %s: interrupted\n", command)
	return nil
}

// pauseFor waits, and is false if ctx ended before.
func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
