package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"incumbent/config"
	"incumbent/election"
)

// resignCommand is "incumbent resign".
type resignCommand struct {
	*settings
	election string
	to, by   string
	wait     *time.Duration // nil: a bound that follows the leader's TTL
	reserve  *time.Duration // nil: defaultReserve, where to is given
	json     bool
}

// defaultReserve is how long the candidate that is asked for goes first. The masters cut
// it to the length of a lease.
const defaultReserve = 5 * time.Second

func newResignCommand(a *app) *cobra.Command {
	var r resignCommand
	c := &cobra.Command{
		Use: "resign ELECTION", Short: "Ask the leader to hand over, and wait until another one leads.",
		Long: aboutResign, Example: resignExample, Args: takes(1, "ELECTION"),
		RunE: func(_ *cobra.Command, args []string) error {
			r.election = args[0]
			return r.run(a)
		},
	}
	f := c.Flags()
	f.Var(textFlag(&r.to, "ID"), "to", "Candidate that should lead next; without it, whoever comes first.")
	f.Var(optionalFlag(&r.reserve, "DURATION", time.ParseDuration), "reserve",
		"With --to: for how long others are refused, at most a lease (default 5s; 0s: --to is only a wish).")
	f.Var(optionalFlag(&r.wait, "DURATION", time.ParseDuration), "wait",
		"How long to wait for the next leader; 0s: not at all (default: two TTLs of the leader, its grace, and --reserve).")
	f.Var(textFlag(&r.by, "NAME"), "by", "Who asks, for the leader's log (default: user and host).")
	f.BoolVar(&r.json, "json", false, "Write one JSON object instead of lines.")
	r.settings = newSettings(f)
	return c
}

const resignExample = `  incumbent resign bridge-health --config incumbent.yaml
  incumbent resign bridge-health --to web-7 --reserve 3s --config incumbent.yaml
  incumbent resign bridge-health --wait 0s --by "deploy 4711" --config incumbent.yaml`

const aboutResign = `ELECTION is its name, as the service gives it.

The request is left with the leader's lease. The leader finds it with its next renewal, within a
third of its TTL, stops its work, and gives the lease back: nobody is forced out, and a leader that
is cut off does not hear it. Only the term that leads now is asked; the next one is not.

With --to, masters that know of the request refuse everybody else for a while after the release. A
candidate of that ID that does not come costs as long without a leader.

If nobody else stands by, the same candidate leads again, with a new term.

With --to, and that candidate leads already, nobody is asked.

Exit code: 0 another candidate leads, with --to that one; or with --wait 0s, the leader was asked;
1 not within --wait, the same candidate leads again, another than --to, or masters that failed;
2 wrong usage, wrong configuration, or servers that refuse it; 3 nobody leads; 130 interrupted,
and the leader may hand over all the same.`

// whoami is this user at this host, as well as it is known.
func whoami() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// check says what is wrong with the flags.
func (r *resignCommand) check() error {
	switch {
	case r.reserve != nil && r.to == "":
		return errors.New("--reserve: needs --to")
	case r.reserve != nil && (*r.reserve < 0 || *r.reserve%time.Millisecond != 0):
		return fmt.Errorf("--reserve: %s: must be whole milliseconds, and not negative", *r.reserve)
	case r.wait != nil && *r.wait < 0:
		return fmt.Errorf("--wait: %s: must not be negative", *r.wait)
	}
	return nil
}

// run asks and waits.
func (r *resignCommand) run(a *app) error {
	if err := r.check(); err != nil {
		return a.misused("resign", err)
	}
	ctx, stop := interruptible(a.ctx)
	defer stop()
	cfg, ok := r.open(a, "resign")
	if !ok {
		return nil
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // what it would say of servers is in the report
	client, err := cfg.Connect()
	if err != nil {
		a.code = misconfigured(a.err, "resign", err)
		return nil
	}
	defer func() { _ = client.Close() }() // nothing is left to lose
	h := &handOver{cfg: cfg, client: client, resignCommand: r}
	report, err := h.do(ctx)
	switch {
	case ctx.Err() != nil:
		return a.interrupted("resign")
	case err != nil:
		return a.misused("resign", err)
	}
	a.code = report.code()
	if r.json {
		return json.NewEncoder(a.out).Encode(report)
	}
	return report.print(a.out, a.err)
}

// handOver is one try to have the leader hand over.
type handOver struct {
	*resignCommand
	cfg    *config.Config
	client *config.Client
	asked  time.Time
}

// do asks whoever leads, and waits. The error is for a name that is none.
func (h *handOver) do(ctx context.Context) (*resignReport, error) {
	before, err := h.look(ctx)
	if err != nil {
		return nil, err
	}
	r := &resignReport{Election: h.election, To: h.to}
	for try := 0; ; try++ {
		if before.Result != leads {
			return r.unasked(before), nil
		}
		if h.to != "" && before.Leader.ID == h.to {
			r.Result, r.Leader = "leads-already", before.Leader
			return r, nil
		}
		r.Asked = before.Leader
		err := h.ask(ctx, r)
		if err == nil {
			break
		}
		// Another one leads meanwhile, or nobody: it is looked again who.
		again := errors.Is(err, election.ErrTaken) || errors.Is(err, election.ErrNoLeader)
		if again && try < 3 && pauseFor(ctx, 50*time.Millisecond) {
			if before, err = h.look(ctx); err != nil {
				return nil, err
			}
			continue
		}
		return r.failed(err), nil
	}
	if h.wait != nil && *h.wait == 0 {
		r.Result = "asked"
		return r, nil
	}
	return r, h.await(ctx, r)
}

// look says who leads.
func (h *handOver) look(ctx context.Context) (*statusReport, error) {
	sent := time.Now()
	state, err := h.client.Inspect(ctx, h.election)
	if err != nil {
		return nil, err
	}
	return newStatusReport(h.election, h.cfg, state, time.Since(sent)), nil
}

// ask leaves the request.
func (h *handOver) ask(ctx context.Context, r *resignReport) error {
	n, known := h.client.Listening(ctx, h.election)
	r.Alone = known && n == 0
	h.asked = time.Now()
	_, err := h.client.Ask(ctx, h.election, election.HandOver{
		Token: r.Asked.Token, To: h.to, By: cmp.Or(h.by, whoami()), Reserve: h.reserved(),
	})
	return err
}

// reserved is for how long the candidate that is asked for goes first.
func (h *handOver) reserved() time.Duration {
	switch {
	case h.to == "":
		return 0
	case h.reserve != nil:
		return *h.reserve
	}
	return defaultReserve
}

// patience is how long to wait: a renewal, the end of the work, which has its grace, and
// the next bid. The leader's grace is taken for that of this configuration.
func (h *handOver) patience(asked *statusHolder) time.Duration {
	if h.wait != nil {
		return *h.wait
	}
	ttl := time.Duration(asked.TTLMS) * time.Millisecond
	return 2*ttl + max(ttl, h.cfg.Grace) + h.reserved() + time.Second
}

// await looks until another term leads, or the time is over.
func (h *handOver) await(ctx context.Context, r *resignReport) error {
	ctx, cancel := context.WithTimeout(ctx, h.patience(r.Asked))
	defer cancel()
	for {
		now, err := h.look(ctx)
		switch {
		case ctx.Err() != nil:
			r.late()
			return nil
		case err != nil:
			return err
		case now.Result == leads && now.Leader.Token > r.Asked.Token:
			r.handed(now.Leader, time.Since(h.asked))
			return nil
		}
		r.last = now
		pause := 100 * time.Millisecond
		if now.Result == nobody {
			pause = 20 * time.Millisecond // any moment now
		}
		pauseFor(ctx, pause) // its end is seen above
	}
}
