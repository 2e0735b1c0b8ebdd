package main

import (
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"incumbent/compare/lab/virtual"
)

// newWorkerCommand is what child processes run. It never returns.
func newWorkerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "worker", Short: "Play runs for another process of this program.", Hidden: true, Args: takes(0),
		RunE: func(*cobra.Command, []string) error {
			virtual.Worker(a.in, a.out)
			return nil
		},
	}
}

// newWorker makes the command of a child process: this very program.
func newWorker() (func() *exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return func() *exec.Cmd { return exec.Command(exe, "worker") }, nil
}
