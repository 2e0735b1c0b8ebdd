package main

import (
	"os"

	"github.com/spf13/cobra"

	"incumbent/internal/supervise"
)

// newWatchdogCommand is what "run" starts to look after its command. It never returns.
func newWatchdogCommand(*app) *cobra.Command {
	return &cobra.Command{
		Use: "watchdog", Short: "Look after the command of run.", Hidden: true, Args: takes(0),
		RunE: func(*cobra.Command, []string) error {
			os.Exit(supervise.Watchdog())
			return nil
		},
	}
}
