package main

import (
	"os"
	"os/exec"

	"incumbent/compare/lab/virtual"
)

// workerCommand is what child processes run.
type workerCommand struct{}

// Run never returns.
func (workerCommand) Run(s streams) error {
	virtual.Worker(s.in, s.out)
	return nil
}

// newWorker makes the command of a child process: this very program.
func newWorker() (func() *exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return func() *exec.Cmd { return exec.Command(exe, "worker") }, nil
}
