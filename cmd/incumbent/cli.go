package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"incumbent/bench"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // a rule was broken, or something could not be done
	exitUsage       = 2   // the command line or the configuration is wrong
	exitHeld        = 3   // init: somebody holds the lease
	exitMissed      = 3   // compare: no mode keeps the limits
	exitUndecided   = 4   // compare: too little was measured to tell
	exitInterrupted = 130 // as a shell reports it
)

// cli is the command line.
type cli struct {
	Bench   benchCommand   `cmd:"" help:"Measure what elections cost on real servers, beside what a lease costs at least."`
	Check   checkCommand   `cmd:"" help:"Ask the configured servers whether they can serve elections, and say what is unwise."`
	Compare compareCommand `cmd:"" help:"Play the same faults to every mode of election, and print what happened."`
	Config  configCommand  `cmd:"" help:"Show the settings in effect."`
	Init    initCommand    `cmd:"" help:"Say once that nobody can be leading, so that the first election ever does not wait."`
	Replay  replayCommand  `cmd:"" help:"Show one run of a comparison, step by step."`
	Report  reportCommand  `cmd:"" help:"Compare benchmark files row by row, and fail on a regression."`
	Version versionCommand `cmd:"" help:"Print the versions of this program and of what it measures with."`
	Worker  workerCommand  `cmd:"" hidden:"" help:"Play runs for another process of this program."`
}

const description = `Leader election over Redis, and the evidence to choose how.

"incumbent compare" needs nothing but this program. Try "incumbent compare --quick" first.`

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program: it parses args, does what they say, and returns the exit
// code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	c := cli{
		Check: checkCommand{settings: newSettings()}, Config: configCommand{configPrintCommand{settings: newSettings()}},
		Init: initCommand{settings: newSettings()},
	}
	parser, err := kong.New(&c,
		kong.Name("incumbent"), kong.Description(description), kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exited(code)) }), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{{Key: settingsGroup, Title: "Settings, as in the file:"}}),
		kong.Vars{
			"default_faults": defaultFaults, "local_faults": localFaults, "remote_faults": remoteFaults, "local_runs": strconv.Itoa(localRuns), "local_quick": strconv.Itoa(localQuick), "default_modes": defaultModes,
			"default_runs": strconv.Itoa(defaultRuns), "quick_runs": strconv.Itoa(quickRuns),
			"bench_rounds": strconv.Itoa(bench.DefaultRounds), "bench_quick_rounds": strconv.Itoa(benchQuickRounds),
			"bench_time": bench.DefaultTime.String(), "bench_quick_time": benchQuickTime.String(),
		})
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "incumbent: %v\n", err)
		return exitFailed
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case exited:
			code = int(v)
		default:
			panic(v)
		}
	}()
	k, err := parser.Parse(args)
	if err != nil {
		return usage(stderr, "incumbent"+subcommand(args), err)
	}
	k.BindTo(ctx, (*context.Context)(nil))
	if err := k.Run(streams{stdin, stdout, stderr}, &code); err != nil {
		_, _ = fmt.Fprintf(stderr, "incumbent: %v\n", err)
		return exitFailed
	}
	return code
}

// exited is how kong ends after --help.
type exited int

// subcommand is the one that args begin with, for the help that has its flags.
func subcommand(args []string) string {
	if len(args) > 1 && args[0] == "config" && args[1] == "print" {
		return " config print"
	}
	if len(args) > 0 && (args[0] == "bench" || args[0] == "check" || args[0] == "config" || args[0] == "compare" || args[0] == "init" || args[0] == "report" || args[0] == "replay") {
		return " " + args[0]
	}
	return ""
}

// usage reports a wrong use of command in one line.
func usage(stderr io.Writer, command string, err error) int {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	_, _ = fmt.Fprintf(stderr, "incumbent: %s (see %s --help)\n", text, command)
	return exitUsage
}
