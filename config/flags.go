package config

import (
	"flag"
	"maps"
	"slices"

	"incumbent/internal/nearest"
)

// Flags holds the flags that were given on a command line, by name without
// dashes, with their values as text.
type Flags map[string]string

// RegisterFlags defines a flag for every setting but the passwords, and returns
// where the values of those that are given will be once fs has parsed them. A
// list may be given in one flag, or by repeating it.
func RegisterFlags(fs *flag.FlagSet) Flags {
	given := Flags{}
	for _, f := range fields {
		s := f.setting()
		if s.Flag == "" {
			continue
		}
		set := func(text string) error {
			if old, again := given[s.Flag]; again && s.List {
				text = old + "," + text
			}
			given[s.Flag] = text
			return nil
		}
		if s.Bool {
			fs.BoolFunc(s.Flag, s.Usage, set)
		} else {
			fs.Func(s.Flag, s.Usage, set)
		}
	}
	return given
}

// flags applies flags.
func (l *loader) flags(given Flags) {
	byName := map[string]field[Config]{}
	var names []string
	for _, f := range fields {
		if name := f.setting().Flag; name != "" {
			byName[name] = f
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f, ok := byName[name]
		if ok {
			l.assign(f, given[name], "--"+name, "")
			continue
		}
		near := nearest.Of(name, names)
		if near != "" {
			near = "--" + near
		}
		l.unknown("flag", "--"+showName(name), near)
	}
}
