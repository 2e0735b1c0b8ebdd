package main

import (
	"slices"
	"strings"

	"incumbent/election"
)

// group is the masters of one store. Its name is empty where there is one store only.
type group struct {
	name    string
	masters []election.MasterState
}

// storesOf splits the masters of an election that is moving from one store to another.
// There they have the name of their store before their own, and those of the first store
// come first.
func storesOf(state election.State) (groups []group) {
	if len(state.Parts) == 0 {
		return []group{{masters: state.Masters}}
	}
	rest := state.Masters
	for _, p := range state.Parts {
		n := min(len(p.Masters), len(rest))
		g := group{masters: rest[:n]}
		if n > 0 {
			g.name, _, _ = strings.Cut(rest[0].Name, "/")
		}
		groups, rest = append(groups, g), rest[n:]
	}
	return groups
}

// merge makes one verdict of those of all stores. Where there are two, who uses both leads
// only with the leases of both.
func merge(groups []group, verdicts []verdict) verdict {
	out := verdicts[0]
	if len(verdicts) == 1 {
		return out
	}
	two := false
	out.text = groups[0].name + ": " + out.text
	for i, v := range verdicts[1:] {
		out.text += "; " + groups[i+1].name + ": " + v.text
		switch {
		case out.leader != nil && v.leader != nil && out.leader.Instance != v.leader.Instance:
			two = true
		case out.leader != nil && v.result == nobody, v.leader != nil && out.result == nobody:
			out.warnings = append(out.warnings, warning{"one-store", "the leader has a lease in one store only"})
		}
		out.warnings = append(out.warnings, v.warnings...)
		if v.worth() > out.worth() || v.leader != nil && out.leader != nil && v.leader.Token > out.leader.Token {
			out.result, out.cause, out.leader = v.result, v.cause, v.leader
		}
	}
	if two {
		out.result, out.cause, out.leader = twofold, "two-leaders", nil
		out.text = "TWO LEADERS: " + out.text
	}
	return out
}

// worth is how much a verdict tells.
func (v verdict) worth() int {
	return slices.Index([]string{nobody, unknown, misfit, leads}, v.result)
}
