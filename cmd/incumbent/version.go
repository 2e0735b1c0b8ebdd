package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// newVersionCommand is "incumbent version".
func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the versions of this program and of what it measures with.",
		Long: `One a line: this program, Go, and the modules whose behaviour the figures depend on.

Exit code: 0; 2 wrong usage.`,
		Example: "  incumbent version\n  incumbent --version        the first line only",
		Args:    takes(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, strings.Join(versionList(), "\n"))
			return err
		},
	}
}

// versions is what reports say in one line.
func versions() string { return strings.Join(versionList(), ", ") }

// measured are the modules whose behaviour the figures depend on.
var measured = []struct{ path, name string }{
	{"github.com/redis/go-redis/v9", "go-redis"},
	{"github.com/go-redsync/redsync/v4", "redsync"},
	{"github.com/alicebob/miniredis/v2", "miniredis"},
}

func versionList() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return []string{"incumbent (built without module information)", runtime.Version()}
	}
	list := []string{"incumbent " + ownVersion(info), runtime.Version()}
	for _, m := range measured {
		for _, d := range info.Deps {
			if d.Path == m.path {
				list = append(list, m.name+" "+d.Version)
			}
		}
	}
	return list
}

// ownVersion is the module's version, or the commit where there is none.
func ownVersion(info *debug.BuildInfo) string {
	v := info.Main.Version
	if v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "(devel) " + s.Value[:12]
		}
	}
	return "(devel)"
}
