package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shells are those that completion knows.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// newCompletionCommand is "incumbent completion".
func newCompletionCommand(a *app) *cobra.Command {
	plain := false
	c := &cobra.Command{
		Use: "completion SHELL", Short: "Write a script that completes commands, flags and values in a shell.",
		Long: `SHELL is bash, zsh, fish or powershell. The script asks this program what fits, so it need not be
written anew for another version. Bash needs the package bash-completion.

Exit code: 0; 1 it could not be written; 2 wrong usage.`,
		Example: `  source <(incumbent completion bash)                                       for this shell only
  incumbent completion bash > /etc/bash_completion.d/incumbent
  incumbent completion zsh > "${fpath[1]}/_incumbent"
  incumbent completion fish > ~/.config/fish/completions/incumbent.fish
  incumbent completion powershell | Out-String | Invoke-Expression`,
		Args: takes(1, "SHELL"), ValidArgsFunction: completeShells,
		RunE: func(c *cobra.Command, args []string) error { return writeCompletion(a, c.Root(), args[0], !plain) },
	}
	c.Flags().BoolVar(&plain, "no-descriptions", false, "Complete without saying what each thing is.")
	return c
}

func completeShells(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return beginning(typed, shells), cobra.ShellCompDirectiveNoFileComp
}

// writeCompletion writes the script for a shell.
func writeCompletion(a *app, root *cobra.Command, shell string, describe bool) error {
	switch {
	case shell == "bash":
		return root.GenBashCompletionV2(a.out, describe)
	case shell == "zsh" && describe:
		return root.GenZshCompletion(a.out)
	case shell == "zsh":
		return root.GenZshCompletionNoDesc(a.out)
	case shell == "fish":
		return root.GenFishCompletion(a.out, describe)
	case shell == "powershell" && describe:
		return root.GenPowerShellCompletionWithDesc(a.out)
	case shell == "powershell":
		return root.GenPowerShellCompletion(a.out)
	}
	return a.misused("completion", fmt.Errorf("%q: must be bash, zsh, fish or powershell%s", shell, meant("", shell, shells)))
}

// completes makes a flag of c complete with one of values, of which each may be followed
// by a tab and what it means.
func completes(c *cobra.Command, flag string, values ...cobra.Completion) {
	register(c, flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(typed, values), cobra.ShellCompDirectiveNoFileComp
	})
}

// beginning are the values that begin with what was typed.
func beginning(typed string, values []cobra.Completion) (list []cobra.Completion) {
	for _, v := range values {
		if strings.HasPrefix(v, typed) {
			list = append(list, v)
		}
	}
	return list
}

// completesSeveral does so for a flag whose values are separated by commas: it completes
// the last one, with those that are not there yet. Behind a comma they have no
// descriptions: the script for bash compares such words quoted, and would find none.
func completesSeveral(c *cobra.Command, flag string, values ...cobra.Completion) {
	register(c, flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		there := strings.Split(before, ",")
		var list []cobra.Completion
		for _, v := range values {
			word, _, _ := strings.Cut(v, "\t")
			if slices.Contains(there, word) {
				continue
			}
			if before != "" {
				v = before + word
			}
			list = append(list, v)
		}
		return beginning(typed, list), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// register panics where a flag does not exist, or has its values already: a mistake of
// this program, which every test finds.
func register(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// completeFiles completes arguments with files.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeRest gives each flag of c without values of its own those that fit what its
// help shows: files, folders or none. Without an own function, arguments have none.
func completeRest(c *cobra.Command) {
	if c.ValidArgsFunction == nil && c.ValidArgs == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := c.GetFlagCompletionFunc(f.Name); ok || f.Value.Type() == "bool" {
			return
		}
		_, setting := f.Annotations[settingFlag]
		switch hint, _ := pflag.UnquoteUsage(f); {
		case setting && f.Name == "mode":
			completes(c, f.Name, modesOfConfig()...)
		case setting && f.Name == "guards-off":
			completesSeveral(c, f.Name, guardsOfStores()...)
		case f.Name == "config":
			register(c, f.Name, cobra.FixedCompletions([]cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt))
		case hint == "DIR":
			register(c, f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
		case hint == "FILE":
			register(c, f.Name, completeFiles)
		default:
			register(c, f.Name, cobra.NoFileCompletions)
		}
	})
}
