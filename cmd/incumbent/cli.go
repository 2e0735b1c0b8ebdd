package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // a rule was broken, or something could not be done
	exitUsage       = 2   // the command line or the configuration is wrong
	exitHeld        = 3   // init: somebody holds the lease
	exitNobody      = 3   // status, resign: nobody leads
	exitMissed      = 3   // compare: no mode keeps the limits
	exitUndecided   = 4   // compare: too little was measured to tell
	exitInterrupted = 130 // as a shell reports it
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// app is one call of the program, as its commands see it.
type app struct {
	ctx context.Context
	streams
	args    []string
	code    int  // the exit code to be, unless a command returns an error
	running bool // whether the command line was understood
}

// commands are those of the program, in the order of its help. The name of each group is
// its title there.
var commands = []struct {
	group string
	list  []func(*app) *cobra.Command
}{
	{"Elections on your servers", []func(*app) *cobra.Command{
		newRunCommand,
		newStatusCommand,
		newObserveCommand,
		newResignCommand,
		newCheckCommand,
		newInitCommand,
		newConfigCommand,
	}},
	{"Which mode to choose, and what it costs", []func(*app) *cobra.Command{
		newCompareCommand,
		newReplayCommand,
		newReportCommand,
		newBenchCommand,
	}},
	{"About this program", []func(*app) *cobra.Command{
		newVersionCommand,
		newCompletionCommand,
		newHelpCommand,
		newWorkerCommand,
		newWatchdogCommand,
	}},
}

func init() { cobra.EnableCommandSorting = false } // they stand in the order above

// newRoot makes the whole command line.
func newRoot(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use: "incumbent", Short: "Leader election over Redis, and the evidence to choose how.",
		Long: `"incumbent run" makes a singleton of any program. "incumbent compare" needs nothing but this program:
try "incumbent compare --quick" first.`,
		SilenceUsage: true, SilenceErrors: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return runRoot(a, c, args, version) },
	}
	root.Flags().BoolVar(&version, "version", false, "Print the version of this program.")
	for _, g := range commands {
		root.AddGroup(&cobra.Group{ID: g.group, Title: g.group + ":"})
		for _, newCommand := range g.list {
			c := newCommand(a)
			c.GroupID = g.group
			root.AddCommand(c)
			if c.Name() == "help" {
				root.SetHelpCommand(c)
			}
		}
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if err := helpOf(a.out, c); err != nil {
			a.code = a.failed(err)
		}
	})
	a.prepare(root)
	return root
}

// runRoot is the program without a command.
func runRoot(a *app, root *cobra.Command, args []string, version bool) error {
	switch {
	case len(args) > 0:
		return a.misused("", wantsCommand(root, args))
	case version:
		_, err := fmt.Fprintln(a.out, versionList()[0])
		return err
	}
	a.code = exitUsage
	return helpOf(a.err, root)
}

// prepare completes a command and those below it: with its flag --help, with a look at
// its arguments, and with a note of when it begins to run, since an error before that is
// one of the command line.
func (a *app) prepare(c *cobra.Command) {
	c.Flags().SortFlags = false
	c.Flags().BoolP("help", "h", false, "Show this help.")
	completeRest(c)
	if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, list []string) error {
			return cmp.Or(swallowed(c, a.args), args(c, list))
		}
	}
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, list []string) error {
			a.running = true
			return run(c, list)
		}
	}
	for _, below := range c.Commands() {
		a.prepare(below)
	}
}

// run is the program: it parses args, does what they say, and returns the exit
// code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{ctx: ctx, streams: streams{stdin, stdout, stderr}, args: args}
	root := newRoot(a)
	root.SetArgs(append([]string{}, args...)) // nil would mean those of the process
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	c, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return a.code
	case !a.running:
		return misuse(c, usage(stderr, commandName(c), err))
	}
	return a.failed(err)
}

// failed says what could not be done, and returns the exit code.
func (a *app) failed(err error) int {
	_, _ = fmt.Fprintf(a.err, "incumbent: %v\n", err)
	return exitFailed
}
