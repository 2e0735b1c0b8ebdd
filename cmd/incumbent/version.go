package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

type versionCommand struct{}

// Run prints one version a line.
func (versionCommand) Run(s streams) error {
	_, err := fmt.Fprintln(s.out, strings.Join(versionList(), "\n"))
	return err
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
