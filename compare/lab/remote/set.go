package remote

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"incumbent/config"
	"incumbent/quorum"
)

// Options say which configuration is meant, and what is to be different from it.
type Options struct {
	// Path of the YAML file. "" means that variables say it all.
	Path string
	// Environ holds variables as NAME=value. nil means os.Environ().
	Environ []string
	// Modes are those to play. nil means all for which the configuration has a section.
	Modes []config.Mode
	// Prefix of all keys, TTL and Renew. Zero means as configured.
	Prefix     string
	TTL, Renew time.Duration
}

// A Set is what a configuration names: the endpoints of one mode, or of both.
type Set struct {
	// Prefix, TTL and Renew are in effect. Renew is 0 where it was not configured.
	Prefix     string
	TTL, Renew time.Duration

	targets []*target
}

// target is the endpoints of one mode.
type target struct {
	mode    config.Mode
	cfg     *config.Config
	sources config.Sources
	meter   meter
	client  *config.Client // nil before Set.Open
}

// retention is the shortest that there is: what a crash of the program leaves is gone
// after that time.
const retention = time.Hour

// ErrSection is the error of a mode for which the configuration has no section.
var ErrSection = errors.New("the configuration has no section for it")

// ErrMasters is the error of a quorum that comparisons do not know.
var ErrMasters = errors.New("a comparison plays an odd number of masters, from 3 to 9")

const mostMasters = 9

// Load reads the configuration, once for each mode. It connects to nothing. The error
// joins all problems, as package config does.
func Load(o Options) (*Set, error) {
	src, base, err := read(o)
	if err != nil {
		return nil, err
	}
	modes := o.Modes
	if modes == nil {
		modes = sections(base)
	}
	s := &Set{}
	for _, m := range modes {
		t, err := load(src, base, m, o)
		if err != nil {
			return nil, err
		}
		s.targets = append(s.targets, t)
		s.Prefix, s.TTL, s.Renew = t.cfg.Prefix, t.cfg.TTL, t.cfg.Renew
	}
	return s, nil
}

// read reads file and variables, so that all who need them see the same.
func read(o Options) (config.Sources, *config.Config, error) {
	src := config.Sources{Path: o.Path, Environ: o.Environ, Flags: config.Flags{}}
	if src.Environ == nil {
		src.Environ = os.Environ()
	}
	src.Environ = slices.DeleteFunc(slices.Clone(src.Environ), func(kv string) bool { return !isSetting(kv) })
	if o.Path != "" {
		src.YAML, _ = os.ReadFile(o.Path) // LoadFrom reads it again, and says what is wrong
	}
	base, err := config.LoadFrom(src)
	return src, base, err
}

// sections lists the modes that a configuration describes, whichever it selects.
func sections(c *config.Config) (list []config.Mode) {
	if hasSingle(c) {
		list = append(list, config.ModeSingle)
	}
	if len(c.Quorum.Masters) > 0 {
		list = append(list, config.ModeQuorum)
	}
	return list
}

func hasSingle(c *config.Config) bool {
	s := c.Single
	return s.Address != "" || s.Sentinel.Master != "" || len(s.Cluster.Addresses) > 0
}

// load reads the configuration for one mode. What the comparison decides are flags, so
// that errors name them.
func load(src config.Sources, base *config.Config, mode config.Mode, o Options) (*target, error) {
	if !slices.Contains(sections(base), mode) {
		return nil, &ModeError{mode, ErrSection}
	}
	if n := len(base.Quorum.Masters); mode == config.ModeQuorum && (n%2 == 0 || n > mostMasters) && n >= quorum.MinMasters {
		return nil, &ModeError{mode, ErrMasters}
	}
	src.Flags = config.Flags{"mode": string(mode), "retention": retention.String(), "guards-off": "none", "assume-new": "false"}
	if o.Prefix != "" {
		src.Flags["prefix"] = o.Prefix
	}
	if o.TTL != 0 {
		src.Flags["ttl"] = o.TTL.String()
	}
	if o.Renew != 0 {
		src.Flags["renew"] = o.Renew.String()
	}
	cfg, err := config.LoadFrom(src)
	if err != nil {
		return nil, err
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // the look before the run says it all
	t := &target{mode: mode, cfg: cfg, sources: src}
	cfg.Dialer = t.meter.dial
	return t, nil
}

// A ModeError says why a mode cannot be played.
type ModeError struct {
	Mode config.Mode
	Err  error
}

// Error names the mode and why.
func (e *ModeError) Error() string { return "mode " + string(e.Mode) + ": " + e.Err.Error() }

// Unwrap returns why.
func (e *ModeError) Unwrap() error { return e.Err }

// withGuards are the sources of candidates.
func (t *target) withGuards(off bool) config.Sources {
	s := t.sources
	if off {
		s.Flags = maps.Clone(s.Flags)
		s.Flags["guards-off"] = "all"
	}
	return s
}

// A Mode of a set.
type Mode struct {
	// Kind is single or quorum, Masters how many there are: 1 in single mode.
	Kind    string
	Masters int
	// Endpoints are the names of the masters.
	Endpoints []string
	// Acks is how many replicas must acknowledge.
	Acks int
}

// Modes lists the modes of the set.
func (s *Set) Modes() (list []Mode) {
	for _, t := range s.targets {
		names := t.cfg.ServerNames()
		list = append(list, Mode{string(t.mode), len(names), names, t.cfg.ReplicaAcks})
	}
	return list
}

// Warnings says what is allowed in the configuration and unwise, each once.
func (s *Set) Warnings() (list []string) {
	for _, t := range s.targets {
		for _, w := range t.cfg.Warnings() {
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// target is that of a mode; nil if there is none.
func (s *Set) target(mode string) *target {
	for _, t := range s.targets {
		if string(t.mode) == mode {
			return t
		}
	}
	return nil
}
