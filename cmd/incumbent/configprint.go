package main

import (
	"encoding/json"
	"fmt"
	"io"

	"incumbent/config"
)

// configCommand is "incumbent config".
type configCommand struct {
	Print configPrintCommand `cmd:"" help:"Print the settings in effect, and where each comes from."`
}

// configPrintCommand is "incumbent config print".
type configPrintCommand struct {
	JSON bool `name:"json" help:"Write one JSON object instead of lines."`
	settings
}

// Help is shown below the flags.
func (configPrintCommand) Help() string {
	return `One line for each setting: key, value, and the place that decided it, which is a line of the file,
a variable, a flag, or "default". Defaults that follow others, such as timeout, are filled in.
Passwords show as ***. No server is asked; "incumbent check" does that.

Examples:
  incumbent config print --config incumbent.yaml
  incumbent config print --config incumbent.yaml --ttl 30s --json

Exit code: 0; 2 wrong usage or wrong configuration (each problem with field, value and rule).`
}

// printed is what --json writes.
type printed struct {
	Settings []config.Value `json:"settings"`
	Warnings []string       `json:"warnings,omitempty"`
}

// Run prints the settings.
func (c *configPrintCommand) Run(s streams, code *int) error {
	cfg, ok := c.open(s.err, "config print", code)
	if !ok {
		return nil
	}
	if c.JSON {
		return json.NewEncoder(s.out).Encode(printed{cfg.Values(), cfg.Warnings()})
	}
	for _, w := range cfg.Warnings() {
		_, _ = fmt.Fprintf(s.err, "incumbent: warning: %s\n", w)
	}
	return cfg.Print(s.out)
}

// open loads the configuration, or says what is wrong with it and sets the code.
func (s *settings) open(stderr io.Writer, command string, code *int) (*config.Config, bool) {
	cfg, err := s.load()
	if err == nil {
		return cfg, true
	}
	*code = misconfigured(stderr, command, err)
	if s.Config == "" {
		_, _ = fmt.Fprintf(stderr, "incumbent: %s: no file was read: --config FILE names one (see incumbent %s --help)\n", command, command)
	}
	return nil, false
}
