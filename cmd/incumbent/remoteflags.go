package main

import (
	"fmt"

	"incumbent/compare/lab/remote"
)

// remoteFlags are the flags of compare that are for the user's own endpoints.
type remoteFlags struct {
	Config    string `placeholder:"FILE" help:"For --lab remote: YAML file with endpoints, TLS and passwords, as services read it. INCUMBENT_* variables override it (default: as INCUMBENT_CONFIG says)."`
	KeyPrefix string `placeholder:"PREFIX" help:"For --lab remote: what all keys start with (default: as configured, which the ACL user may use already)."`
	DryRun    bool   `help:"For --lab remote: look at the endpoints, say what would be written, and write nothing."`
	Yes       bool   `help:"For --lab remote: do not ask before writing."`
	Cleanup   string `placeholder:"ID" help:"For --lab remote: only remove the keys that an earlier comparison, which named this, could not remove."`

	set *remote.Set
}

// misplaced is an error where a flag was given that its lab does not have. The error
// begins with the flag.
func (f *remoteFlags) misplaced(isRemote bool) error {
	if isRemote {
		return nil
	}
	for _, g := range []struct {
		given bool
		name  string
		value string // "" for a switch
	}{
		{f.Config != "", "config", f.Config}, {f.KeyPrefix != "", "key-prefix", f.KeyPrefix},
		{f.DryRun, "dry-run", ""}, {f.Yes, "yes", ""}, {f.Cleanup != "", "cleanup", f.Cleanup},
	} {
		if g.given {
			what := g.name
			if g.value != "" {
				what += ": " + g.value
			}
			return fmt.Errorf("%s: is for --lab %s", what, remote.Name)
		}
	}
	return nil
}
