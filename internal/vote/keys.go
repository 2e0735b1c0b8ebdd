package vote

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Keys are the names under which one election is stored. Lease and record
// share a hash tag, so that they share a slot of a Cluster.
type Keys struct {
	Election               string
	Lease, Record, Channel string
}

// DefaultPrefix is where keys live unless the user says otherwise.
const DefaultPrefix = "incumbent"

const maxName = 200

// NewKeys makes the keys of an election. Braces in the name are escaped, since
// they would move the hash tag; what cannot be read in a log is refused. The
// prefix must not contain braces.
func NewKeys(prefix, name string) (Keys, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if err := checkName("key prefix", prefix); err != nil {
		return Keys{}, err
	}
	if strings.ContainsAny(prefix, "{}") {
		return Keys{}, fmt.Errorf("key prefix %q: must not contain { or }, which belong to the hash tag", prefix)
	}
	if err := checkName("election name", name); err != nil {
		return Keys{}, err
	}
	base := prefix + ":{" + escape.Replace(name) + "}:"
	return Keys{name, base + "lease", base + "record", base + "released"}, nil
}

// escape keeps distinct names distinct.
var escape = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")

func checkName(what, s string) error {
	switch {
	case s == "":
		return fmt.Errorf("%s: must not be empty", what)
	case len(s) > maxName:
		return fmt.Errorf("%s: %d bytes: at most %d", what, len(s), maxName)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s %q: must be valid UTF-8", what, s)
	}
	for _, r := range s {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return fmt.Errorf("%s %q: must not contain spaces, line breaks or unprintable characters", what, s)
		}
	}
	return nil
}
