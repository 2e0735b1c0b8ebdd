package main

import (
	"github.com/spf13/cobra"

	"incumbent/internal/supervise"
)

// Exit codes of "incumbent run", beside those of its command. They are as high as
// possible, where few commands have codes of their own; 125 to 127 are those of env(1),
// nohup(1) and others, and 128 + n is a signal, as a shell reports it.
const (
	exitRunLost        = 120 // leadership was lost, and the command stopped
	exitRunNotAcquired = 121 // not leader within --wait
	exitRunConfig      = 122 // the command line or the configuration is wrong
	exitRunFailed      = 125 // incumbent itself failed
	exitRunCannot      = supervise.CannotExecute
	exitRunNotFound    = supervise.NotFound
	exitRunSignal      = 128 // + the number of the signal
)

// misuse is the exit code of a wrong command line for c: that of "run" must not be one
// which its command may well have.
func misuse(c *cobra.Command, code int) int {
	if c.Name() == "run" {
		return exitRunConfig
	}
	return code
}
