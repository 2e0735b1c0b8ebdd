package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"incumbent/config"
	"incumbent/election"
)

// initCommand is "incumbent init".
type initCommand struct {
	*settings
	election string
	json     bool
}

func newInitCommand(a *app) *cobra.Command {
	var i initCommand
	c := &cobra.Command{
		Use: "init ELECTION", Short: "Say once that nobody can be leading, so that the first election ever does not wait.",
		Long: aboutInit, Example: initExample, Args: takes(1, "ELECTION"),
		RunE: func(_ *cobra.Command, args []string) error {
			i.election = args[0]
			return i.run(a)
		},
	}
	c.Flags().BoolVar(&i.json, "json", false, "Write one JSON object instead of lines.")
	i.settings = newSettings(c.Flags())
	return c
}

const initExample = `  incumbent init bridge-health --config incumbent.yaml
  incumbent init bridge-health --mode single --single-address redis.example:6379
  incumbent init bridge-health --config incumbent.yaml --json`

const aboutInit = `ELECTION is its name, as the service gives it.

When: once, before the first election ever, or after the masters were wiped on purpose, while no
candidate runs. A master that knows nothing of an election may have lost a lease that somebody
still believes in, so the first campaign waits there for max_ttl, and a second more where a server
has just started. Only you can know that nobody leads; this command says so, and nobody waits who
starts from then on: a candidate that waits already does so to the end.

When not: in anything that runs by itself whenever a service or a server starts. A master that was
restarted and came back empty must wait, or two may lead at once. Forgetting this command costs
one wait, nothing else. An election that has a leader does not need it.

It changes no lease and no token, and refuses while anybody holds the lease. All masters must take
it; if one does not, run it again later: that is harmless while there is no leader.

Exit code: 0 every master is ready; 1 a master could not be reached or refused (the lines say which
are ready and which not); 2 wrong usage, wrong configuration, or servers that do not fit it, and
nothing was changed; 3 somebody holds the lease; 130 interrupted, and run it again to be sure.`

// run initialises an election.
func (i *initCommand) run(a *app) error {
	ctx, stop := interruptible(a.ctx)
	defer stop()
	cfg, ok := i.open(a, "init")
	if !ok {
		return nil
	}
	for _, w := range cfg.Warnings() {
		_, _ = fmt.Fprintf(a.err, "incumbent: warning: %s\n", w)
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // what it would say of servers is in the report
	client, err := cfg.Open(ctx)
	if err != nil {
		a.code = misconfigured(a.err, "init", err)
		return nil
	}
	defer func() { _ = client.Close() }() // nothing is left to lose
	store, err := client.Store(i.election)
	if err != nil {
		return a.misused("init", err)
	}
	return i.init(ctx, a, client, store)
}

// init does it and reports.
func (i *initCommand) init(ctx context.Context, a *app, client *config.Client, store election.Store) error {
	err := client.Init(ctx, i.election)
	if ctx.Err() != nil {
		a.code = exitInterrupted
		_, _ = fmt.Fprintln(a.err, "incumbent: init: interrupted: some masters may be ready and others not; run it again")
		return nil
	}
	state, lookErr := store.Inspect(ctx)
	if lookErr != nil {
		return errors.Join(err, lookErr)
	}
	r := newInitReport(i.election, state, err)
	a.code = r.code()
	if i.json {
		return json.NewEncoder(a.out).Encode(r)
	}
	return r.print(a.out, a.err)
}
