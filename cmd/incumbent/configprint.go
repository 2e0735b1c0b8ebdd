package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"incumbent/config"
)

// newConfigCommand is "incumbent config".
func newConfigCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Show the settings in effect.",
		Example: "  incumbent config print --config incumbent.yaml",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return a.misused(commandName(c), wantsCommand(c, args)) },
	}
	c.AddCommand(newConfigPrintCommand(a))
	return c
}

// newConfigPrintCommand is "incumbent config print".
func newConfigPrintCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "print", Short: "Print the settings in effect, and where each comes from.",
		Long: `One line for each setting: key, value, and the place that decided it, which is a line of the file,
a variable, a flag, or "default". Defaults that follow others, such as timeout, are filled in.
Passwords show as ***. No server is asked; "incumbent check" does that.

Exit code: 0; 2 wrong usage or wrong configuration (each problem with field, value and rule).`,
		Example: `  incumbent config print --config incumbent.yaml
  incumbent config print --config incumbent.yaml --ttl 30s --json`,
		Args: takes(0),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object instead of lines.")
	s := newSettings(c.Flags())
	c.RunE = func(*cobra.Command, []string) error {
		cfg, ok := s.open(a, "config print")
		if !ok {
			return nil
		}
		return printConfig(a.streams, cfg, asJSON)
	}
	return c
}

// printed is what --json writes.
type printed struct {
	Settings []config.Value `json:"settings"`
	Warnings []string       `json:"warnings,omitempty"`
}

// printConfig prints the settings, for people or for programs.
func printConfig(s streams, cfg *config.Config, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(s.out).Encode(printed{cfg.Values(), cfg.Warnings()})
	}
	for _, w := range cfg.Warnings() {
		_, _ = fmt.Fprintf(s.err, "incumbent: warning: %s\n", w)
	}
	return cfg.Print(s.out)
}
