// Command incumbent runs programs of which only one may run at a time, shows, checks and
// hands over elections on Redis, and compares ways to elect a leader.
package main

import (
	"context"
	"os"

	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
)

func main() {
	local.ChildMain() // never returns in a process that the local lab started
	remote.ChildMain()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
