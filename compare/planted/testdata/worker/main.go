// Command worker is the child process of a pool of the virtual lab. It is built
// with an overlay that plants bugs.
package main

import (
	"os"

	"incumbent/compare/lab/virtual"
)

func main() { virtual.Worker(os.Stdin, os.Stdout) }
