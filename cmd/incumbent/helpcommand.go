package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newHelpCommand is "incumbent help".
func newHelpCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "help [COMMAND...]", Short: "Show the help of a command.",
		Long: "As incumbent COMMAND --help does.",
		Example: `  incumbent help compare
  incumbent help config print`,
		Args:              takes(0, "COMMAND..."),
		ValidArgsFunction: completeCommands,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		of, rest, err := c.Root().Find(args)
		if err == nil && len(rest) == 0 {
			return helpOf(a.out, of)
		}
		if of == nil {
			of, rest = c.Root(), args
		}
		if !of.HasAvailableSubCommands() {
			return a.misused(commandName(c), fmt.Errorf("%q has no commands", of.CommandPath()))
		}
		return a.misused(commandName(of), wantsCommand(of, rest))
	}
	return c
}

// completeCommands completes with the commands below those that stand there.
func completeCommands(c *cobra.Command, args []string, typed string) (list []cobra.Completion, d cobra.ShellCompDirective) {
	of, rest, err := c.Root().Find(args)
	if err == nil && len(rest) == 0 {
		for _, below := range of.Commands() {
			if below.IsAvailableCommand() {
				list = append(list, cobra.CompletionWithDesc(below.Name(), below.Short))
			}
		}
	}
	return beginning(typed, list), cobra.ShellCompDirectiveNoFileComp
}
