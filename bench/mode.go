package bench

import (
	"fmt"
	"slices"
	"strings"
)

// A Mode is a way to elect a leader.
type Mode struct {
	Name    string // single, quorum3 or quorum5
	Masters int    // how many servers it needs
}

// Modes lists all modes.
func Modes() []Mode { return []Mode{{"single", 1}, {"quorum3", 3}, {"quorum5", 5}} }

// ParseModes reads names of modes, separated by commas, each at most once.
func ParseModes(list string) ([]Mode, error) {
	var modes []Mode
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(Modes(), func(m Mode) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q: must be single, quorum3 or quorum5, or several, separated by commas", name)
		}
		if m := Modes()[i]; slices.Contains(modes, m) {
			return nil, fmt.Errorf("%s: must be named once", name)
		}
		modes = append(modes, Modes()[i])
	}
	return modes, nil
}

// Serve returns those of modes for which n servers are enough.
func Serve(modes []Mode, n int) []Mode {
	return slices.DeleteFunc(slices.Clone(modes), func(m Mode) bool { return m.Masters > n })
}

// masters is how many servers the largest of modes needs.
func masters(modes []Mode) int {
	n := 1
	for _, m := range modes {
		n = max(n, m.Masters)
	}
	return n
}
