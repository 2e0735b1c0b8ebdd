package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"incumbent/config"
)

// initCommand is "incumbent init".
type initCommand struct {
	Election string `arg:"" help:"Name of the election, as the service gives it."`
	JSON     bool   `name:"json" help:"Write one JSON object instead of lines."`
	settings
}

// Help is shown below the flags.
func (initCommand) Help() string {
	return `When: once, before the first election ever, or after the masters were wiped on purpose, while no
candidate runs. A master that knows nothing of an election may have lost a lease that somebody
still believes in, so the first campaign waits there for max_ttl, and a second more where a server
has just started. Only you can know that nobody leads; this command says so, and nobody waits.

When not: in anything that runs by itself whenever a service or a server starts. A master that was
restarted and came back empty must wait, or two may lead at once. Forgetting this command costs
one wait, nothing else. An election that has a leader does not need it.

It changes no lease and no token, and refuses while anybody holds the lease. All masters must take
it; if one does not, run it again later: that is harmless while there is no leader.

Examples:
  incumbent init bridge-health --config incumbent.yaml
  incumbent init bridge-health --mode single --single-address redis.example:6379
  incumbent init bridge-health --config incumbent.yaml --json

Exit code: 0 every master is ready; 1 a master could not be reached or refused (the lines say which
are ready and which not); 2 wrong usage, wrong configuration, or servers that do not fit it, and
nothing was changed; 3 somebody holds the lease; 130 interrupted, and run it again to be sure.`
}

// Run initialises an election.
func (c *initCommand) Run(ctx context.Context, s streams, code *int) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	cfg, err := c.load()
	if err != nil {
		*code = misconfigured(s.err, "init", err)
		if c.Config == "" {
			_, _ = fmt.Fprintln(s.err, "incumbent: init: no file was read: --config FILE names one (see incumbent init --help)")
		}
		return nil
	}
	for _, w := range cfg.Warnings() {
		_, _ = fmt.Fprintf(s.err, "incumbent: warning: %s\n", w)
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // what it would say of servers is in the report
	client, err := cfg.Open(ctx)
	if err != nil {
		*code = misconfigured(s.err, "init", err)
		return nil
	}
	defer func() { _ = client.Close() }() // nothing is left to lose
	*code, err = c.init(ctx, s, client)
	return err
}

// init does it and reports. It returns the exit code.
func (c *initCommand) init(ctx context.Context, s streams, client *config.Client) (int, error) {
	store, err := client.Store(c.Election)
	if err != nil {
		return usage(s.err, "incumbent init", err), nil
	}
	err = client.Init(ctx, c.Election)
	if ctx.Err() != nil {
		_, _ = fmt.Fprintf(s.err, "incumbent: init: interrupted: some masters may be ready and others not; run it again\n")
		return exitInterrupted, nil
	}
	state, lookErr := store.Inspect(ctx)
	if lookErr != nil {
		return exitFailed, errors.Join(err, lookErr)
	}
	r := newInitReport(c.Election, state, err)
	if c.JSON {
		return r.code(), json.NewEncoder(s.out).Encode(r)
	}
	return r.code(), r.print(s.out, s.err)
}
