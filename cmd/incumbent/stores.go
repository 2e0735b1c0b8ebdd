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

// storesOf splits the masters of an election that is moving from one store to another:
// they have the name of their store before their own.
func storesOf(masters []election.MasterState) (groups []group) {
	for _, m := range masters {
		name, _, named := strings.Cut(m.Name, "/")
		if !named {
			name = ""
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{name: name})
		}
		groups[i].masters = append(groups[i].masters, m)
	}
	return groups
}

// merge makes one verdict of those of all stores. Where there are two, who uses both leads
// only with the leases of both.
func merge(groups []group, verdicts []verdict) verdict {
	if len(verdicts) == 0 {
		return verdict{result: unknown, cause: "too-few-answers", text: "cannot tell: there are no masters"}
	}
	out := verdicts[0]
	if len(verdicts) == 1 {
		return out
	}
	out.text = groups[0].name + ": " + out.text
	for i, v := range verdicts[1:] {
		out.text += "; " + groups[i+1].name + ": " + v.text
		switch {
		case out.leader != nil && v.leader != nil && out.leader.Instance != v.leader.Instance:
			out.warnings = append(out.warnings, warning{"two-leaders", "the stores have different leaders: one uses a single store"})
		case (out.leader == nil) != (v.leader == nil):
			out.warnings = append(out.warnings, warning{"one-store", "the leader has a lease in one store only"})
		}
		out.warnings = append(out.warnings, v.warnings...)
		if v.worth() > out.worth() || v.leader != nil && out.leader != nil && v.leader.Token > out.leader.Token {
			out.result, out.cause, out.leader = v.result, v.cause, v.leader
		}
	}
	return out
}

// worth is how much a verdict tells.
func (v verdict) worth() int {
	return slices.Index([]string{nobody, unknown, misfit, leads}, v.result)
}
