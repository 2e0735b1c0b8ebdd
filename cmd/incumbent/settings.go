package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"incumbent/config"
)

// settingFlag marks the flags of settings, which the help shows last.
const settingFlag = "incumbent_setting"

// settings are the flags of a command that opens a configuration: the file, and
// one flag for each setting.
type settings struct {
	file  string
	given config.Flags
}

// newSettings adds the flags to those of a command. A flag that the command has
// already is its own: newSettings leaves it alone, and the setting has none.
func newSettings(flags *pflag.FlagSet) *settings {
	s := &settings{given: config.Flags{}}
	flags.Var(textFlag(&s.file, "FILE"), "config",
		"YAML file with the settings; INCUMBENT_* variables override it, and the flags below both ($INCUMBENT_CONFIG).")
	for _, k := range config.Settings() {
		if k.Flag == "" || flags.Lookup(k.Flag) != nil {
			continue
		}
		f := flags.VarPF(&settingValue{k, s.given}, k.Flag, "", sentence(k.Usage))
		f.Annotations = map[string][]string{settingFlag: nil}
		if k.Bool {
			f.NoOptDefVal = "true"
		}
	}
	return s
}

// settingValue is the flag of one setting. Its value is left to package config, which
// says what is wrong with it; but a switch is on or off.
type settingValue struct {
	config.Setting
	given config.Flags
}

// Set keeps what was given. A list grows when its flag is repeated.
func (v *settingValue) Set(text string) error {
	if v.Bool {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return err
		}
		text = strconv.FormatBool(on)
	}
	if old, again := v.given[v.Flag]; again && v.List {
		text = old + "," + text
	}
	v.given[v.Flag] = text
	return nil
}

// String is what was given.
func (v *settingValue) String() string { return v.given[v.Flag] }

// Type is what the help shows in place of a value.
func (v *settingValue) Type() string {
	switch {
	case v.Bool:
		return "bool"
	case v.List:
		return "VALUE,..."
	case strings.HasSuffix(v.Key, "_file"):
		return "FILE"
	}
	return "VALUE"
}

// sentence is text that begins with a capital and ends with a stop.
func sentence(text string) string {
	r := []rune(text)
	r[0] = unicode.ToUpper(r[0])
	return string(r) + "."
}

// path is the file that was named, by a flag or else by a variable; "" means none.
func (s *settings) path() string { return cmp.Or(s.file, os.Getenv("INCUMBENT_CONFIG")) }

// load reads the configuration from file, environment and flags.
func (s *settings) load() (*config.Config, error) {
	return config.LoadFrom(config.Sources{Path: s.path(), Flags: s.given})
}

// open loads the configuration for the command of that name. If something is wrong with
// it, it says what, sets the exit code, and returns false.
func (s *settings) open(a *app, command string) (*config.Config, bool) {
	cfg, err := s.load()
	if err == nil {
		return cfg, true
	}
	a.code = misconfigured(a.err, command, err)
	if s.path() == "" && len(s.given) == 0 {
		_, _ = fmt.Fprintf(a.err, "incumbent: %s: no file was read: --config FILE names one (see incumbent %s --help)\n", command, command)
	}
	return nil, false
}

// misconfigured reports what is wrong with a configuration, or with servers that do
// not fit it, one problem a line.
func misconfigured(stderr io.Writer, command string, err error) int {
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintf(stderr, "incumbent: %s: configuration: %s\n", command, strings.TrimSuffix(line, "\n"))
	}
	return exitUsage
}
