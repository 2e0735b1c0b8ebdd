package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/lab/remote"
	"incumbent/election"
)

// runRemote plays the comparison at the user's own endpoints.
func (c *compareCommand) runRemote(a *app) error {
	ctx, stop := interruptible(a.ctx)
	defer stop()
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler)) // go-redis tells of each address that Sentinels name
	if err := c.loadSet(); err != nil {
		a.code = c.misconfigured(a.streams, err)
		return nil
	}
	plan, err := c.remotePlan()
	if err == nil && c.Cleanup == "" {
		plan, err = c.allowed(plan, a.err)
	}
	if err != nil {
		return a.misused("compare", fmt.Errorf("--%w", err))
	}
	defer func() { _ = c.set.Close() }() // nothing is left to lose
	if err := c.set.Open(ctx); err != nil {
		a.code = c.misconfigured(a.streams, err)
		return nil
	}
	if c.Cleanup != "" {
		a.code = c.cleanup(ctx, a.streams)
		return nil
	}
	a.code, err = c.ask(ctx, a.streams, plan)
	return err
}

// misconfigured reports what is wrong before any endpoint was asked.
func (c *compareCommand) misconfigured(s streams, err error) int {
	var flag *errFlag
	if errors.As(err, &flag) {
		return usage(s.err, "compare", fmt.Errorf("--%w", err))
	}
	code := misconfigured(s.err, "compare", err)
	if c.Config == "" {
		_, _ = fmt.Fprintln(s.err, "incumbent: compare: no file was read: --config FILE names one")
	}
	return code
}

// ask looks at the endpoints, says what will be done, and does it once that is wanted.
// It returns the exit code.
func (c *compareCommand) ask(ctx context.Context, s streams, plan compare.Plan) (int, error) {
	slo, err := c.limits()
	if err != nil {
		return usage(s.err, "compare", fmt.Errorf("--%w", err)), nil
	}
	for _, w := range c.set.Warnings() {
		_, _ = fmt.Fprintf(s.err, "incumbent: warning: %s\n", w)
	}
	id := remote.NewID(c.set.Elections(plan.Total()))
	look, err := c.set.Look(ctx, id.Election(0))
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(s.err, "Nothing was written.")
		return exitInterrupted, nil
	case err != nil:
		return exitFailed, err
	}
	out := s.err
	if c.DryRun {
		out = s.out
	}
	if look.Err != nil {
		_, _ = fmt.Fprintf(s.err, "Endpoints:\n%s", endpoints(look))
		return c.refused(s, look.Err, look.Unreachable()), nil
	}
	_, _ = io.WriteString(out, c.announcement(plan, id, look))
	if c.DryRun {
		_, _ = fmt.Fprintln(s.out, "\nDry run: nothing was written.")
		return exitOK, nil
	}
	if code, ok := c.confirm(ctx, s); !ok {
		return code, nil
	}
	return c.playRemote(ctx, s, plan, slo, &remote.Player{Set: c.set, ID: id})
}

// playRemote plays, and says what became of the keys. It returns the exit code.
func (c *compareCommand) playRemote(ctx context.Context, s streams, p compare.Plan, slo *decide.SLO, by *remote.Player) (int, error) {
	code, err := c.play(ctx, s, p, slo, compare.Remote{Player: by})
	if !c.tidied(s, by) && code == exitOK {
		code = exitFailed
	}
	if err != nil && isRefusal(err) {
		return c.refused(s, err, false), nil
	}
	return code, err
}

// refused reports why the endpoints do not serve, one problem a line.
func (c *compareCommand) refused(s streams, err error, unreachable bool) int {
	for line := range strings.Lines(err.Error()) {
		_, _ = fmt.Fprintf(s.err, "incumbent: compare: %s\n", strings.TrimSuffix(line, "\n"))
	}
	if unreachable {
		return exitFailed
	}
	return exitUsage
}

// isRefusal reports whether masters are there and refuse what is needed.
func isRefusal(err error) bool {
	for _, kind := range []error{
		election.ErrNoPermission, election.ErrScriptsDisabled, election.ErrAuth, election.ErrTLS, election.ErrReadOnly,
		election.ErrWrongClient, election.ErrForeignKey, remote.ErrDeaf,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// confirm asks whether to go on. Where nobody can answer, --yes must have been given.
func (c *compareCommand) confirm(ctx context.Context, s streams) (code int, ok bool) {
	if c.Yes {
		return exitOK, true
	}
	if !canAnswer(s.in) {
		_, _ = fmt.Fprintln(s.err, "incumbent: compare: nobody can be asked, since standard input is no terminal: give --yes to write all the same, or --dry-run (see incumbent compare --help)")
		return exitUsage, false
	}
	_, _ = fmt.Fprint(s.err, "\nGo on? [y/N] ")
	answer := make(chan string, 1)
	go func() { // ends with the program at the latest: nothing interrupts reading from a terminal
		line, _ := bufio.NewReader(s.in).ReadString('\n') // an error is no yes
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case a := <-answer:
		if a == "y" || a == "yes" {
			return exitOK, true
		}
		_, _ = fmt.Fprintln(s.err, "Nothing was written.")
		return exitOK, false
	case <-ctx.Done():
		_, _ = fmt.Fprintln(s.err, "\nNothing was written.")
		return exitInterrupted, false
	}
}

// canAnswer reports whether somebody sits at r.
func canAnswer(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// tidied says what became of the keys. It reports whether none can be left.
func (c *compareCommand) tidied(s streams, p *remote.Player) bool {
	r := p.Figures().Removed
	if len(r.Missed) == 0 {
		if !c.Quiet {
			_, _ = fmt.Fprintf(s.err, "%s removed; none of this comparison is left\n", plural(int(r.Keys), "key"))
		}
		return true
	}
	_, _ = fmt.Fprintf(s.err, "incumbent: compare: %s removed; keys may be left, which expire by themselves within %s, at %s\n",
		plural(int(r.Keys), "key"), c.set.Lasting(), strings.Join(r.Missed, "; "))
	_, _ = fmt.Fprintf(s.err, "remove them with: %s\n", c.cleanupCommand(p.ID))
	return false
}

// cleanupCommand removes what a comparison may have left.
func (c *compareCommand) cleanupCommand(id remote.ID) string {
	command := self() + " compare --lab " + remote.Name
	if c.Config != "" {
		command += " --config " + compare.ShellWord(c.Config)
	}
	if c.KeyPrefix != "" {
		command += " --key-prefix " + compare.ShellWord(c.KeyPrefix)
	}
	return command + " --cleanup " + id.String()
}

// cleanup removes what an earlier comparison has left. It returns the exit code.
func (c *compareCommand) cleanup(ctx context.Context, s streams) int {
	id, err := remote.ParseID(c.Cleanup)
	if err != nil {
		return usage(s.err, "compare", fmt.Errorf("--cleanup: %w", err))
	}
	r := c.set.Remove(ctx, id.Names(id.Elections()))
	for _, m := range r.Missed {
		_, _ = fmt.Fprintf(s.err, "incumbent: compare: keys may be left at %s\n", m)
	}
	_, _ = fmt.Fprintf(s.out, "%s removed\n", plural(int(r.Keys), "key"))
	switch {
	case len(r.Missed) == 0:
		return exitOK
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailed
}
