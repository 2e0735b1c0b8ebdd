package config

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"incumbent/election"
)

// A Value is one setting in effect, as people may see it.
type Value struct {
	// Key is as in the file; quorum.masters[0].address for what a list holds.
	Key string `json:"key"`
	// Value is as it would be written; *** for a secret.
	Value string `json:"value"`
	// Source is a line of the file, a variable, a flag, or "default".
	Source string `json:"source"`
}

// Values lists what is in effect, with defaults filled in and secrets hidden, in
// the order of a file. What is empty is left out.
func (c *Config) Values() []Value {
	full := c.withDefaults()
	var out []Value
	for _, f := range fields {
		if masters, ok := f.at(&full).(*[]Master); ok {
			for i := range *masters {
				base := fmt.Sprintf("%s[%d].", f.key, i)
				out = append(out, list(masterFields, &(*masters)[i], base, c.from)...)
			}
		} else {
			out = append(out, list([]field[Config]{f}, &full, "", c.from)...)
		}
	}
	return out
}

// list gives the fields of t that are not empty.
func list[T any](fs []field[T], t *T, base string, from origins) []Value {
	var out []Value
	for _, f := range fs {
		if value := text(f.at(t)); value != "" {
			where := from.of(base + f.key)
			if where == "" {
				where = "default"
			}
			out = append(out, Value{base + f.key, value, where})
		}
	}
	return out
}

// text is a value as it would be written, "" when there is none.
func text(at any) string {
	switch p := at.(type) {
	case *Mode:
		return string(*p)
	case *string:
		return *p
	case *Secret:
		return p.String()
	case *int:
		if *p != 0 {
			return strconv.Itoa(*p)
		}
	case *bool:
		if *p {
			return "true"
		}
	case **bool:
		if *p != nil {
			return strconv.FormatBool(**p)
		}
	case *election.StoreGuards:
		return p.String()
	case *time.Duration:
		if *p != 0 {
			return duration(max(*p, 0))
		}
	case *[]string:
		return strings.Join(*p, ",")
	case *map[string]string:
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(*p)) {
			pairs = append(pairs, k+"="+(*p)[k])
		}
		return strings.Join(pairs, ",")
	}
	return ""
}

// Print writes the configuration in effect as a table of key, value and where
// the value came from. Secrets show as ***.
func (c *Config) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, i := range c.Values() {
		if _, err := fmt.Fprintf(t, "%s\t%s\t%s\n", i.Key, oneLine(i.Value), i.Source); err != nil {
			return err
		}
	}
	return t.Flush()
}

// oneLine quotes what would spoil a table.
func oneLine(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` || strings.Contains(s, " ") {
		return q
	}
	return s
}

// String gives the configuration in effect in one line, secrets as ***.
func (c Config) String() string {
	var b strings.Builder
	for n, i := range c.Values() {
		if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(i.Key + "=" + oneLine(i.Value))
	}
	return b.String()
}

// Format writes String, whatever the verb, so that no password is printed by
// one that looks into the fields.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue gives the configuration in effect to slog, secrets as ***.
func (c Config) LogValue() slog.Value {
	var attrs []slog.Attr
	for _, i := range c.Values() {
		attrs = append(attrs, slog.String(i.Key, i.Value))
	}
	return slog.GroupValue(attrs...)
}
