package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// Sources are where a configuration comes from, in rising order of precedence:
// defaults, YAML, environment, flags.
type Sources struct {
	// Path of the YAML file. "" means none.
	Path string
	// YAML is the content of the file, when it was read already; Path is then
	// only what errors call it. nil means that Path is read.
	YAML []byte
	// Environ holds the variables as NAME=value. nil means os.Environ(); an
	// empty slice means none.
	Environ []string
	// Flags holds the flags that were given: see RegisterFlags. nil means none.
	Flags Flags
	// Ignore names variables that start with INCUMBENT_ and are no settings.
	Ignore []string
}

// Load reads the YAML file at path, then the environment. "" means no file. It
// opens no connection. The error joins all problems that were found.
func Load(path string) (*Config, error) { return LoadFrom(Sources{Path: path}) }

// LoadFrom reads a configuration from s and validates it.
func LoadFrom(s Sources) (*Config, error) {
	if s.YAML == nil && s.Path != "" {
		var err error
		if s.YAML, err = readFile(s.Path); err != nil {
			return nil, err
		}
	}
	if s.Environ == nil {
		s.Environ = os.Environ()
	}
	l := loader{cfg: Default(), bad: map[string]bool{}}
	l.cfg.from = origins{}
	if s.YAML != nil || s.Path != "" {
		l.layer(func() { l.yaml(s.Path, s.YAML) })
	}
	if !l.broken {
		l.layer(func() { l.environ(s.Environ, s.Ignore) })
		l.layer(func() { l.flags(s.Flags) })
		l.validate()
	}
	if n := len(l.errs); n > maxErrors {
		l.errs = append(l.errs[:maxErrors], fmt.Errorf("and %d more problems", n-maxErrors))
	}
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return l.cfg, nil
}

// maxErrors is more than anybody reads.
const maxErrors = 50

func readFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("configuration file %s: %w (give the path of a YAML file, or none)", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return b, nil
}

// origins tell where a value came from; a key that is missing has its default.
type origins map[string]string

// of is the place of a key, or of the nearest one above it that has one.
func (o origins) of(key string) string {
	for ; key != ""; key = key[:max(0, strings.LastIndexAny(key, ".["))] {
		if where := o[key]; where != "" {
			return where
		}
	}
	return ""
}

// loader applies one source after the other to a Config.
type loader struct {
	cfg    *Config
	errs   []error
	bad    map[string]bool   // keys with an error already
	set    map[string]string // keys that the present source has set, and where
	broken bool              // the file could not be read at all
}

// layer applies one source. Its passwords replace password files of earlier
// sources, and the other way round.
func (l *loader) layer(apply func()) {
	l.set = map[string]string{}
	apply()
	for key := range l.set {
		maps.DeleteFunc(l.cfg.from, func(old, _ string) bool { return isBelow(old, key) })
	}
	maps.Copy(l.cfg.from, l.set)
	for key := range l.set {
		other := key + "_file"
		if base, ok := strings.CutSuffix(key, "password_file"); ok {
			other = base + "password"
		}
		if _, both := l.set[other]; both || l.cfg.from[other] == "" {
			continue
		}
		if f, found, _ := lookup(fields, other); found {
			clearText(f.at(l.cfg))
			delete(l.cfg.from, other)
		}
	}
}

func clearText(at any) {
	switch p := at.(type) {
	case *string:
		*p = ""
	case *Secret:
		*p = ""
	}
}

// assign gives a field of the configuration a value as text.
func (l *loader) assign(f field[Config], text, where, dir string) {
	l.note(f.key, where)
	if rule := assign(f.key, f.at(l.cfg), text, dir); rule != "" {
		l.fail(f.key, shown(f.key, f.at(l.cfg), text), where, rule)
	}
}

// shown is a value as an error may show it.
func shown(key string, at any, text string) string {
	switch at.(type) {
	case *Secret, *map[string]string:
		return ""
	}
	if isFile(key) {
		return ""
	}
	return show(text)
}

func (l *loader) note(key, where string) { l.set[key] = where }

func (l *loader) fail(field, value, where, rule string) {
	l.bad[field] = true
	l.errs = append(l.errs, &FieldError{field, value, where, rule})
}

// validate adds the problems of the whole, except with what is wrong already.
func (l *loader) validate() {
	for _, e := range l.cfg.problems() {
		if !l.isBad(e.Field) {
			l.errs = append(l.errs, e)
		}
	}
}

// isBad says that a key, or something above or below it, has an error already.
func (l *loader) isBad(key string) bool {
	for k := range l.bad {
		if k == key || isBelow(k, key) || isBelow(key, k) {
			return true
		}
	}
	return false
}

func isBelow(key, above string) bool {
	rest, ok := strings.CutPrefix(key, above)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

func folderOf(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Dir(path)
}
