package config

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"incumbent/election"
)

// assign writes a value, given as text, where at points to. It returns the rule
// that the text breaks, or "". dir is where relative file names start.
func assign(key string, at any, text, dir string) (rule string) {
	if text == "" {
		return "is empty: leave it out for the default"
	}
	switch p := at.(type) {
	case *Mode:
		return assignMode(p, text)
	case *string:
		if isFile(key) && dir != "" && !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		*p = text
	case *Secret:
		*p = Secret(text)
	case *time.Duration:
		return assignDuration(key, p, text)
	case *bool:
		return assignBool(p, text)
	case **bool:
		*p = new(bool)
		return assignBool(*p, text)
	case *int:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 {
			return "must be a whole number, 0 or more"
		}
		*p = int(n)
	case *election.StoreGuards:
		return assignGuards(p, text)
	case *[]string:
		*p = split(text)
	case *[]Master:
		*p = nil
		for _, a := range split(text) {
			*p = append(*p, Master{Address: a})
		}
	case *map[string]string:
		return assignMap(p, text)
	}
	return ""
}

const modeRule = `must be "single", "quorum", or "both" during a move`

func assignMode(p *Mode, text string) string {
	m := Mode(strings.ToLower(text))
	if m != ModeSingle && m != ModeQuorum && m != ModeBoth {
		return modeRule
	}
	*p = m
	return ""
}

func assignBool(p *bool, text string) string {
	switch strings.ToLower(text) {
	case "true":
		*p = true
	case "false":
		*p = false
	default:
		return "must be true or false"
	}
	return ""
}

// split separates a list in one text by commas.
func split(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ",") {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}

// assignMap reads name=value,name=value.
func assignMap(p *map[string]string, text string) string {
	m := map[string]string{}
	for _, pair := range split(text) {
		k, v, ok := strings.Cut(pair, "=")
		if _, twice := m[k]; !ok || k == "" || twice {
			return "must be name=value,name=value with each name once"
		}
		m[k] = v
	}
	*p = m
	return ""
}

// assignDuration reads a duration with a unit. 0 of it has a meaning for two
// settings only.
func assignDuration(key string, p *time.Duration, text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return "needs a unit, such as 10s or 500ms"
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return "is no duration: write 10s, 500ms or 1m30s"
	case d < 0:
		return "must not be negative"
	case d == 0 && key == "grace":
		d = -1
	case d == 0 && key != "max_term":
		return "must be more than 0: leave it out for the default"
	}
	*p = d
	return ""
}

// duration is d as people write it: without zero minutes and seconds.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
