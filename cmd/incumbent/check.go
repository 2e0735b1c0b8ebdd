package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// checkCommand is "incumbent check".
type checkCommand struct {
	Election string `arg:"" optional:"" help:"Name of the election, as the service gives it; without it permissions are not checked."`
	JSON     bool   `name:"json" help:"Write one JSON object instead of lines."`
	Strict   bool   `help:"Take warnings for errors."`
	settings
}

// Help is shown below the flags.
func (checkCommand) Help() string {
	return `It asks every server of the configuration whether it can serve, and writes nothing: no key, no lease.
What it finds has a severity, a code that never changes, and a remedy:

  error    as it is, this server cannot serve: unreachable, tls, auth, permission, read-only,
           loading, out-of-memory, persistence-failing, no-replicas, wrong-client, too-old, ...
  warning  it serves, and something is unwise: eviction, clock-difference, no-wake-ups, ...
  info     worth knowing; or unknown: this user may not ask for it, which is no fault

A user with the rights of docs/protocol.md is enough. CONFIG GET tells more, if it is granted.

Examples:
  incumbent check bridge-health --config incumbent.yaml
  incumbent check bridge-health --config incumbent.yaml --json --strict

Exit code: 0 no errors (with --strict: nor warnings); 1 what may pass by waiting: a server is
unreachable, hung or loading; 2 what does not: wrong usage, wrong configuration, or a server that
refuses it (password, TLS, permission, a replica in place of a primary, ...); 130 interrupted.`
}

// Run checks the servers.
func (c *checkCommand) Run(ctx context.Context, s streams, code *int) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	cfg, ok := c.open(s.err, "check", code)
	if !ok {
		return nil
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // what it would say of servers is in the report
	found, err := cfg.Preflight(ctx, c.Election)
	switch {
	case ctx.Err() != nil:
		*code = exitInterrupted
		_, _ = fmt.Fprintln(s.err, "incumbent: check: interrupted")
		return nil
	case err != nil:
		*code = misconfigured(s.err, "check", err)
		return nil
	}
	r := newCheckReport(c.Election, cfg, found, c.Strict)
	*code = r.code()
	if c.JSON {
		return json.NewEncoder(s.out).Encode(r)
	}
	return r.print(s.out)
}
