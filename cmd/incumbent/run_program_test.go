package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"incumbent/internal/supervise"
)

// asProgram is set in the environment of a test binary that is to be the program.
const asProgram = "ACT_AS_INCUMBENT=1"

// actAsProgram lets the test binary be the program, its watchdog, or a command of theirs.
// It returns in no other case than that of a test.
func actAsProgram() {
	if len(os.Args) > 2 && os.Args[1] == "beat" {
		beat(os.Args[2:])
	}
	if os.Getenv("ACT_AS_INCUMBENT") == "1" {
		main()
	}
}

// beat writes a line with the time, its own number and the token to a file, every few
// milliseconds. Further arguments: deaf ignores signals, child starts another one with
// the arguments that follow, apart does so in a session of its own.
func beat(args []string) {
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		os.Exit(3)
	}
	for i, a := range args[1:] {
		if a == "deaf" {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
			continue
		}
		cmd := exec.Command(os.Args[0], append([]string{"beat", args[0]}, args[i+2:]...)...)
		if a == "apart" {
			apart(cmd)
		}
		if cmd.Start() != nil {
			os.Exit(3)
		}
		break
	}
	for {
		_, _ = fmt.Fprintf(f, "%d %d %s\n", supervise.Now(), os.Getpid(), os.Getenv("INCUMBENT_TOKEN"))
		time.Sleep(2 * time.Millisecond)
	}
}
