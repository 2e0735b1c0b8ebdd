package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"incumbent/config"
)

// settingsGroup is where the help shows the flags of settings.
const settingsGroup = "settings"

// settings are the flags of a command that opens a configuration: the file, and
// one flag for each setting.
type settings struct {
	Config string `env:"INCUMBENT_CONFIG" placeholder:"FILE" help:"YAML file with the settings; INCUMBENT_* variables override it, and the flags below both."`
	kong.Plugins
	known []config.Setting
	given reflect.Value // a struct with a pointer or slice for each of known
}

// newSettings makes the flags from what package config knows.
func newSettings() settings {
	var s settings
	var fields []reflect.StructField
	for _, k := range config.Settings() {
		if k.Flag == "" {
			continue
		}
		s.known = append(s.known, k)
		fields = append(fields, flagField(len(fields), k))
	}
	p := reflect.New(reflect.StructOf(fields))
	s.given, s.Plugins = p.Elem(), kong.Plugins{p.Interface()}
	return s
}

// flagField is the flag of one setting as kong wants it. Its value is left to
// package config, which says what is wrong with it.
func flagField(i int, k config.Setting) reflect.StructField {
	f := reflect.StructField{Name: fmt.Sprintf("Flag%d", i), Type: reflect.TypeFor[*string]()}
	hint := "VALUE"
	switch {
	case k.Bool:
		f.Type, hint = reflect.TypeFor[*bool](), ""
	case k.List:
		f.Type, hint = reflect.TypeFor[[]string](), "VALUE,..."
	}
	f.Tag = reflect.StructTag(fmt.Sprintf(`name:%q help:%q placeholder:%q sep:"none" group:%q`, k.Flag, sentence(k.Usage), hint, settingsGroup))
	return f
}

// sentence is text that begins with a capital and ends with a stop.
func sentence(text string) string {
	r := []rune(text)
	r[0] = unicode.ToUpper(r[0])
	return string(r) + "."
}

// load reads the configuration from file, environment and flags.
func (s *settings) load() (*config.Config, error) {
	flags := config.Flags{}
	for i, k := range s.known {
		switch v := s.given.Field(i); {
		case v.IsNil():
		case k.List:
			flags[k.Flag] = strings.Join(v.Interface().([]string), ",")
		default:
			flags[k.Flag] = fmt.Sprint(v.Elem().Interface())
		}
	}
	return config.LoadFrom(config.Sources{Path: s.Config, Flags: flags})
}

// misconfigured reports what is wrong with a configuration, or with servers that do
// not fit it, one problem a line.
func misconfigured(stderr io.Writer, command string, err error) int {
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintf(stderr, "incumbent: %s: configuration: %s\n", command, strings.TrimSuffix(line, "\n"))
	}
	return exitUsage
}
