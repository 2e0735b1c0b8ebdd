package benchfile

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Settings are the keys of the lines "key: value" that count. Any other such line is
// taken for a log line: "redis: 2026/01/02 ... dial failed" is one of go-redis.
func Settings() []string {
	return []string{"goos", "goarch", "pkg", "cpu", "lab", "ttl", "candidates", "renew", "link", "loss", "drift", "seed", "versions", "mode"}
}

var (
	settings = Settings()
	phrases  = []string{"cpu", "versions"} // whose values may have spaces
	// conditions are written where they are not as usual.
	conditions = []string{"renew", "link", "loss", "drift"}
	headers    = []string{"goos", "goarch", "pkg", "lab"}
)

// setting returns key and value of a line that is a setting.
func setting(line []byte) (key string, value []byte, ok bool) {
	k, v, found := bytes.Cut(line, []byte(":"))
	if !found || len(k) > 16 {
		return "", nil, false
	}
	i := slices.Index(settings, string(k)) // the conversion allocates nothing here
	if i < 0 || len(v) > 0 && v[0] != ' ' && v[0] != '\t' {
		return "", nil, false
	}
	v = bytes.Trim(v, " \t")
	if len(v) > 1024 || !utf8.Valid(v) || !slices.Contains(phrases, settings[i]) && bytes.ContainsAny(v, " \t") {
		return "", nil, false
	}
	return settings[i], v, true
}
