package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"incumbent/bench"
	"incumbent/internal/redisproc"
)

// options are what the flags ask for. The error begins with the flag.
func (c *benchCommand) options() (bench.Options, []bench.Gate, error) {
	o := bench.Options{Modes: bench.Modes(), Seed: c.Seed, Servers: c.Servers, ServerBin: c.ServerBin}
	if len(c.Servers) == 1 && c.Servers[0] == bench.StartServers {
		o.Servers = nil
	}
	if err := c.plan(&o); err != nil {
		return o, nil, err
	}
	if len(o.Servers) == 0 {
		if _, err := redisproc.LookPath(o.ServerBin); err != nil {
			return o, nil, fmt.Errorf("server-bin: %s: must be an executable, or --servers name servers", cmp.Or(o.ServerBin, "no redis-server found"))
		}
	}
	var wrong *bench.OptionError
	if err := o.Check(); errors.As(err, &wrong) {
		return o, nil, fmt.Errorf("%s: %s: %s", benchFlags[wrong.Field], wrong.Value, wrong.Rule)
	}
	if err := c.writable(); err != nil {
		return o, nil, fmt.Errorf("out: %w", err)
	}
	gates, err := c.gates(o.Modes)
	return o, gates, err
}

// plan decides on modes, rounds and time.
func (c *benchCommand) plan(o *bench.Options) error {
	switch {
	case len(c.Modes) > 0:
		modes, err := bench.ParseModes(strings.Join(c.Modes, ","))
		if err != nil {
			return fmt.Errorf("modes: %w", err)
		}
		o.Modes = modes
	case len(o.Servers) > 0:
		o.Modes = bench.Serve(o.Modes, len(o.Servers))
	}
	o.Rounds, o.Time = bench.DefaultRounds, bench.DefaultTime
	if c.Quick {
		o.Rounds, o.Time = benchQuickRounds, benchQuickTime
	}
	if c.Rounds != nil {
		o.Rounds = *c.Rounds
	}
	if c.Time != nil {
		o.Time = *c.Time
	}
	switch { // elsewhere 0 asks for the default
	case o.Rounds == 0:
		return fmt.Errorf("rounds: 0: must be at least %d", bench.MinRounds)
	case o.Time == 0:
		return fmt.Errorf("time: 0s: must be at least %s", bench.MinTime)
	}
	return nil
}

// gates are those of --gate.
func (c *benchCommand) gates(modes []bench.Mode) ([]bench.Gate, error) {
	var gates []bench.Gate
	for _, text := range c.Gate {
		g, err := bench.ParseGate(text)
		if err != nil {
			return nil, fmt.Errorf("gate: %w", err)
		}
		gates = append(gates, g)
	}
	if err := bench.Match(gates, modes); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	return gates, nil
}

// announce says what is written where, and what is left out.
func (c *benchCommand) announce(stderr io.Writer, o bench.Options) {
	if len(o.Servers) == 0 || c.Quiet {
		return
	}
	if len(c.Modes) == 0 {
		for _, m := range bench.Modes()[len(o.Modes):] {
			_, _ = fmt.Fprintf(stderr, "incumbent: bench: %s left out: it needs %d servers, %d are given\n", m.Name, m.Masters, len(o.Servers))
		}
	}
	_, _ = fmt.Fprintf(stderr, "incumbent: bench: writes keys below %q on the servers given, and removes them\n", bench.Prefix)
}

// writable sees before anything is measured whether there is a place for the file.
func (c *benchCommand) writable() error {
	if c.Out == "" {
		return nil
	}
	if info, err := os.Stat(c.Out); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: must be a file", c.Out)
	}
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil // it will be replaced
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(c.Out))
}
