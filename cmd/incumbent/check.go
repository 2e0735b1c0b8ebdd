package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

// checkCommand is "incumbent check".
type checkCommand struct {
	*settings
	election     string
	json, strict bool
}

func newCheckCommand(a *app) *cobra.Command {
	var k checkCommand
	c := &cobra.Command{
		Use: "check [ELECTION]", Short: "Ask the configured servers whether they can serve elections, and say what is unwise.",
		Long: aboutCheck, Example: checkExample, Args: takes(0, "ELECTION"),
		RunE: func(_ *cobra.Command, args []string) error {
			k.election = strings.Join(args, "")
			return k.run(a)
		},
	}
	c.Flags().BoolVar(&k.json, "json", false, "Write one JSON object instead of lines.")
	c.Flags().BoolVar(&k.strict, "strict", false, "Take warnings for errors.")
	k.settings = newSettings(c.Flags())
	return c
}

const checkExample = `  incumbent check bridge-health --config incumbent.yaml
  incumbent check bridge-health --config incumbent.yaml --json --strict`

const aboutCheck = `ELECTION is its name, as the service gives it; without it permissions are not checked.

It asks every server of the configuration whether it can serve, and writes nothing: no key, no lease.
What it finds has a severity, a code that never changes, and a remedy:

  error    as it is, this server cannot serve: unreachable, tls, auth, permission, read-only,
           loading, out-of-memory, persistence-failing, no-replicas, wrong-client, too-old, ...
  warning  it serves, and something is unwise: eviction, clock-difference, no-wake-ups, ...
  info     worth knowing; or unknown: this user may not ask for it, which is no fault

A user with the rights of docs/protocol.md is enough. CONFIG GET tells more, if it is granted.

Exit code: 0 no errors (with --strict: nor warnings); 1 what may pass by waiting: a server is
unreachable, hung or loading; 2 what does not: wrong usage, wrong configuration, or a server that
refuses it (password, TLS, permission, a replica in place of a primary, ...); 130 interrupted.`

// run checks the servers.
func (k *checkCommand) run(a *app) error {
	ctx, stop := interruptible(a.ctx)
	defer stop()
	cfg, ok := k.open(a, "check")
	if !ok {
		return nil
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // what it would say of servers is in the report
	found, err := cfg.Preflight(ctx, k.election)
	switch {
	case ctx.Err() != nil:
		a.code = exitInterrupted
		_, _ = fmt.Fprintln(a.err, "incumbent: check: interrupted")
		return nil
	case err != nil:
		a.code = misconfigured(a.err, "check", err)
		return nil
	}
	r := newCheckReport(k.election, cfg, found, k.strict)
	a.code = r.code()
	if k.json {
		return json.NewEncoder(a.out).Encode(r)
	}
	return r.print(a.out)
}
