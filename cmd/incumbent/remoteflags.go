package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"incumbent/compare/lab/remote"
)

// remoteFlags are the flags of compare that are for the user's own endpoints.
type remoteFlags struct {
	Config    string
	KeyPrefix string
	DryRun    bool
	Yes       bool
	Cleanup   string

	set *remote.Set
}

func (f *remoteFlags) flags(to *pflag.FlagSet) {
	to.Var(textFlag(&f.Config, "FILE"), "config", "For --lab remote: YAML file with endpoints, TLS and passwords, as services read it. INCUMBENT_* variables "+
		"override it (default: as INCUMBENT_CONFIG says).")
	to.Var(textFlag(&f.KeyPrefix, "PREFIX"), "key-prefix", "For --lab remote: what all keys start with (default: as configured, which the ACL user may use already).")
	to.BoolVar(&f.DryRun, "dry-run", false, "For --lab remote: look at the endpoints, say what would be written, and write nothing.")
	to.BoolVar(&f.Yes, "yes", false, "For --lab remote: do not ask before writing.")
	to.Var(textFlag(&f.Cleanup, "ID"), "cleanup", "For --lab remote: only remove the keys that an earlier comparison, which named this, could not remove.")
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
