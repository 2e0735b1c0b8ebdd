package config

import (
	"regexp"
	"slices"
	"strings"

	"incumbent/internal/nearest"
)

const envPrefix = "INCUMBENT_"

// notSettings are variables of this project that configure something else.
var notSettings = []string{
	"INCUMBENT_CONFIG", "INCUMBENT_BENCH_REDIS",
	"INCUMBENT_ELECTION", "INCUMBENT_TOKEN", // what run gives its command
	"INCUMBENT_ACTIVE_HELP", "INCUMBENT_COMPLETION_DESCRIPTIONS", // of shell completion
	"INCUMBENT_REQUIRE_REDIS", "INCUMBENT_REQUIRE_POSTGRES", "INCUMBENT_REQUIRE_MARIADB", "INCUMBENT_REQUIRE_CHROMIUM",
	"INCUMBENT_REQUIRE_FAKETIME", "INCUMBENT_REQUIRE_PROMTOOL",
}

// kubernetes matches what it makes of the names of services, such as a service
// called incumbent.
var kubernetes = regexp.MustCompile(`_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)

// environ applies environment variables.
func (l *loader) environ(environ, ignore []string) {
	byName := map[string]field[Config]{}
	var names []string
	for _, f := range fields {
		name := f.setting().Env
		byName[name] = f
		names = append(names, name)
	}
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(notSettings, name) || slices.Contains(ignore, name) {
			continue
		}
		f, ok := byName[name]
		if !ok && kubernetes.MatchString(strings.TrimPrefix(name, strings.TrimSuffix(envPrefix, "_"))) {
			continue
		}
		if !ok {
			l.unknown("variable", showName(name), nearest.Of(name, names))
			continue
		}
		if value == "" {
			l.fail(f.key, "", name, "is empty: unset the variable for the default")
			continue
		}
		l.assign(f, value, name, "")
	}
}

// unknown reports a variable or flag that is no setting.
func (l *loader) unknown(what, name, near string) {
	rule := "no setting has this name"
	if near != "" {
		rule = "did you mean " + near + "?"
	}
	l.errs = append(l.errs, &FieldError{Field: "unknown " + what + " " + name, Rule: rule})
}
