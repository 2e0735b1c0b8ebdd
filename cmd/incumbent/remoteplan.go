package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/config"
)

// loadSet reads the configuration. An error of the flags begins with one, in an
// errFlag; others are what package config says.
func (c *compareCommand) loadSet() error {
	c.Config = cmp.Or(c.Config, os.Getenv("INCUMBENT_CONFIG"))
	o := remote.Options{Path: c.Config, Prefix: c.KeyPrefix, Renew: c.Renew}
	if c.TTL != nil {
		o.TTL = *c.TTL
	}
	want, err := c.remoteModes()
	if err != nil {
		return err
	}
	for _, m := range want {
		o.Modes = append(o.Modes, config.Mode(m.Kind))
	}
	set, err := remote.Load(o)
	var mode *remote.ModeError
	if errors.As(err, &mode) {
		return &errFlag{"modes", fmt.Errorf("%s: %w", mode.Mode, mode.Err)}
	}
	if err != nil {
		return err
	}
	for i, m := range want {
		if have := set.Modes()[i]; m.Masters != 0 && m.Masters != have.Masters {
			return &errFlag{"modes", fmt.Errorf("%s: the configuration has %s", m, plural(have.Masters, "master"))}
		}
	}
	c.set = set
	return nil
}

// errFlag says which flag is wrong.
type errFlag struct {
	flag string
	err  error
}

func (e *errFlag) Error() string { return e.flag + ": " + e.err.Error() }
func (e *errFlag) Unwrap() error { return e.err }

// remoteModes are those that were asked for; quorum alone means the configured number
// of masters. None means all that are configured.
func (c *compareCommand) remoteModes() (list []compare.Mode, err error) {
	for _, text := range c.Modes {
		m := compare.Mode{Kind: text}
		if text != string(config.ModeQuorum) {
			if m, err = compare.ParseMode(text); err != nil {
				return nil, &errFlag{"modes", err}
			}
		}
		if slices.ContainsFunc(list, func(o compare.Mode) bool { return o.Kind == m.Kind }) {
			return nil, &errFlag{"modes", fmt.Errorf("%s: must be named once", m.Kind)}
		}
		list = append(list, m)
	}
	return list, nil
}

// setModes are the modes of a set, as flags name them.
func setModes(s *remote.Set) (names []string) {
	for _, m := range s.Modes() {
		names = append(names, compare.Mode{Kind: m.Kind, Masters: m.Masters}.String())
	}
	return names
}

// remotePlan makes a plan of flags and configuration. The error begins with the flag.
func (c *compareCommand) remotePlan() (compare.Plan, error) {
	given := *c
	given.TTL, given.Renew, given.Modes = &c.set.TTL, c.set.Renew, setModes(c.set)
	switch {
	case c.link() != "" || c.Loss != 0 || c.Drift != 0:
		return compare.Plan{}, errors.New("link, --loss and --drift are for simulations: the network and the clocks are your own")
	case c.Workers > 1:
		return compare.Plan{}, fmt.Errorf("workers: %d: the remote lab plays one run at a time, so that your servers see one election", c.Workers)
	}
	return given.plan()
}

// allowed leaves out of a plan what would harm servers, and says so. What was asked for
// by name is an error.
func (c *compareCommand) allowed(p compare.Plan, w io.Writer) (compare.Plan, error) {
	var out []string
	keep := func(name string, s *fault.Schedule) (bool, error) {
		err := remote.Supports(local.Spec{Fault: name, Schedule: s})
		switch {
		case err == nil:
			return true, nil
		case s != nil:
			return false, fmt.Errorf("schedule: %s: %w", s.Path, err)
		case slices.Contains(c.Faults, name):
			return false, fmt.Errorf("faults: %w", err)
		}
		out = append(out, name)
		return false, nil
	}
	all := p.Faults
	p.Faults = nil
	for _, name := range all {
		ok, err := keep(name, nil)
		if err != nil {
			return p, err
		}
		if ok {
			p.Faults = append(p.Faults, name)
		}
	}
	for i := range p.Schedules {
		if _, err := keep("", &p.Schedules[i]); err != nil {
			return p, err
		}
	}
	if len(out) > 0 {
		_, _ = fmt.Fprintf(w, "left out, since this lab harms no server of yours and suspends no host: %s\n", strings.Join(out, ", "))
	}
	return p, nil
}
