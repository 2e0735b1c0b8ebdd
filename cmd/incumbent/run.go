package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"incumbent/config"
	"incumbent/internal/supervise"
)

// What to do when leadership is lost.
const (
	recampaign = "recampaign"
	exitOnLost = "exit"
)

// runCommand is "incumbent run".
type runCommand struct {
	*settings
	election string
	argv     []string
	path     string // of argv[0]

	wait      *time.Duration // nil: for ever
	onLost    string         // "" means recampaign
	once      bool
	http      string // "" means none
	logFormat string
	quiet     bool
}

func newRunCommand(a *app) *cobra.Command {
	k := runCommand{logFormat: "text"}
	c := &cobra.Command{
		Use: "run ELECTION [flags] -- COMMAND [ARGUMENT...]", Short: "Run a command while this process leads, and on no account longer.",
		Long: aboutRun, Example: runExample, DisableFlagsInUseLine: true, Args: k.takes, ValidArgsFunction: completeRun,
		RunE: func(*cobra.Command, []string) error { return k.run(a) },
	}
	f := c.Flags()
	f.Var(optionalFlag(&k.wait, "TIME", time.ParseDuration), "wait",
		"Give up when not leading after that time, each time it campaigns, with exit code 121, or 125 if the store could not be asked; 0s means one try (default: never).")
	f.Var(choiceFlag(&k.onLost, "WHAT", recampaign, exitOnLost), "on-lost",
		"When leadership is lost: recampaign, to start the command again when it leads again, or exit, with code 120 (default: recampaign).")
	f.BoolVar(&k.once, "once", false, "Start the command at most once: when leadership is lost then, exit with code 120.")
	f.StringVar(&k.http, "http", "", "Answer /leader, /livez, /readyz and /metrics on `ADDR`, as in :9821; port 0 means a free one, which is logged.")
	f.Var(choiceFlag(&k.logFormat, "FORMAT", "text", "json"), "log-format", "How the log is written to standard error: text or json (default: text).")
	f.BoolVar(&k.quiet, "quiet", false, "Log warnings and errors only.")
	completes(c, "on-lost", recampaign, exitOnLost)
	completes(c, "log-format", "text", "json")
	k.settings = newSettings(f)
	return c
}

const runExample = `  incumbent run nightly-report --config incumbent.yaml -- /usr/local/bin/report --all
  incumbent run bridge-health --config incumbent.yaml --http :9821 -- ./bridge-health
  incumbent run migrate --config incumbent.yaml --wait 0s --once -- ./migrate up
  incumbent run mailer --config incumbent.yaml -- sh -c 'worker & trap "kill $!" TERM; wait'`

const aboutRun = `It campaigns in ELECTION, runs COMMAND while it leads, and gives the lease back when nothing of the
command is left. Any number of hosts may do so: one of them runs it. When the command ends by
itself, so does this, with its exit code; whoever waits then leads. Let a service manager start it
again where it is to go on.

What the command gets: its arguments as they are, without a shell; the environment, with
INCUMBENT_ELECTION, and INCUMBENT_TOKEN, the fencing token of the term, and without the variables that
hold passwords of the store (INCUMBENT_PASSWORD and the like); standard output and error;
standard input, unless that is a terminal, in whose place it reads nothing. It is first in a process
group of its own.

When leadership is lost, the command must be gone before the lease ends. All of its processes get
SIGTERM step_down before that, and SIGKILL a third of step_down before it (with a step_down below
150 ms: 50 ms, or half of it). On Linux "all" is every descendant, also one in a session of its own;
elsewhere it is the process group. A watchdog, a process beside this one, sees to it when this one
is killed, stopped or hangs (so Ctrl-Z costs the command). What the command leaves behind when it
ends is ended likewise, before another leads. What is not promised: an end of processes that the
kernel cannot kill, or that became another user's; of grandchildren when this and the watchdog are
killed at once, or of anything when both are stopped; nor anything while the machine itself is paused,
or so busy that it does not let the watchdog run for that long: only a resource that checks the
token helps.

Signals: INT, TERM, HUP and QUIT are passed on to the whole group, which is killed when --grace is
over, or as early as the deadline wants; the exit code is then the command's. USR1 and USR2 are passed
on, too. A hang-up that is ignored when this starts (nohup) stays so.

Without --wait, a store that does not serve (down, wrong password, a replica) is waited for; the log
repeats it once a minute.

Exit code: the command's own, or 128 + n if signal n ended it, or this while it waited;
  120  leadership was lost (with --on-lost=exit or --once)
  121  not leader within --wait: another host leads, or bids, or a guard makes all wait
  122  wrong usage or configuration, also where a server says so at the start
  125  incumbent itself failed: a store that could not be asked within --wait, or can never serve,
       a port of --http that is taken, its watchdog killed (then as 120), ...
  126  COMMAND cannot be executed
  127  COMMAND was not found`

// takes splits the arguments at the dashes: ELECTION -- COMMAND [ARGUMENT...].
func (k *runCommand) takes(c *cobra.Command, args []string) error {
	n := c.ArgsLenAtDash()
	switch {
	case len(args) == 0 || n == 0:
		return errors.New("ELECTION is missing: " + c.UseLine())
	case n < 0 && len(args) > 1, n > 1:
		return fmt.Errorf("unexpected argument %q: COMMAND follows after --, as in: incumbent run ELECTION -- COMMAND", args[1])
	case n < 0 || len(args) == n:
		return errors.New("COMMAND is missing: " + c.UseLine())
	case args[0] == "":
		return errors.New("ELECTION is empty")
	case k.wait != nil && *k.wait < 0:
		return fmt.Errorf("--wait: %s: must not be negative", *k.wait)
	case k.once && k.onLost == recampaign:
		return errors.New("--once starts the command at most once: it cannot go with --on-lost=recampaign")
	}
	k.election, k.argv = args[0], args[1:]
	if _, _, err := net.SplitHostPort(k.http); k.http != "" && err != nil {
		return fmt.Errorf("--http: %w: must be HOST:PORT or :PORT", err)
	}
	return nil
}

// completeRun completes the command with files.
func completeRun(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if c.ArgsLenAtDash() < 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// run checks what can be checked before it campaigns, and takes no lease for what cannot
// be run.
func (k *runCommand) run(a *app) error {
	if err := supervise.Supported(); err != nil {
		return k.fail(a, exitRunFailed, err)
	}
	cfg, ok := k.open(a, "run")
	if !ok {
		a.code = exitRunConfig
		return nil
	}
	var err error
	if k.path, err = supervise.Look(k.argv[0]); err != nil {
		code := exitRunCannot
		if s := (*supervise.StartError)(nil); errors.As(err, &s) {
			code = s.ExitCode()
		}
		return k.fail(a, code, err)
	}
	log := newRunLog(a.err, k.logFormat, k.quiet)
	defer log.close()
	cfg.Logger = log.Logger
	r := newRunner(a, k, cfg)
	a.code = r.run(a.ctx)
	return nil
}

// fail reports in one line why nothing was run.
func (k *runCommand) fail(a *app, code int, err error) error {
	_, _ = fmt.Fprintf(a.err, "incumbent: run: %v\n", err)
	a.code = code
	return nil
}

// timing is when the command is ended: what of it is not configured has the defaults of
// package election.
func timing(cfg *config.Config) (ttl time.Duration, t supervise.Timing) {
	ttl = cmp.Or(cfg.TTL, config.Default().TTL)
	return ttl, supervise.Timing{StepDown: cmp.Or(cfg.StepDown, ttl/10), Grace: cmp.Or(cfg.Grace, ttl)}
}
