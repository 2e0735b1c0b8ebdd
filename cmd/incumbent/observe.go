package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incumbent/election"
)

// observeCommand is "incumbent observe".
type observeCommand struct {
	*settings
	election string
	json     bool
}

func newObserveCommand(a *app) *cobra.Command {
	var o observeCommand
	c := &cobra.Command{
		Use: "observe ELECTION", Short: "Follow who leads: a line at each change.",
		Long: aboutObserve, Example: observeExample, Args: takes(1, "ELECTION"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.election = args[0]
			return o.run(a)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "Write one JSON object a line.")
	o.settings = newSettings(c.Flags())
	return c
}

const observeExample = `  incumbent observe bridge-health --config incumbent.yaml
  incumbent observe bridge-health --config incumbent.yaml --json | jq -r '[.time, .leader.id]|@tsv'`

const aboutObserve = `ELECTION is its name, as the service gives it.

The first line says who leads now, each later one what has changed. It never campaigns, and sends
about one command a TTL to each master; a release is heard of at once. What the masters say is up
to a TTL old, and a term shorter than a third of a TTL may be missed. A new leader is seen with
the next look: soon after a release, else within a third of a TTL. So nobody led for the time that
is said, or for less.

With --json: "event" is leads, nobody or unknown; "leader" is null but for leads; "seen_for_ms" is
how long what was before has been seen from here: where it was nobody, that is the most it can be.

Exit code: 0 when it is stopped by a signal, or nobody reads it any more; 2 wrong usage, wrong
configuration, or servers that do not fit it.`

// change is what an observer is told. --json writes it.
type change struct {
	Time     time.Time     `json:"time"`
	Election string        `json:"election"`
	Event    string        `json:"event"` // leads, nobody or unknown
	Leader   *statusHolder `json:"leader"`
	// SeenForMS is how long what was before has been seen; 0 for the first.
	SeenForMS int64  `json:"seen_for_ms"`
	Error     string `json:"error,omitempty"`

	before string // in words
}

// run follows until it is stopped.
func (o *observeCommand) run(a *app) error {
	ctx, stop := interruptible(a.ctx)
	defer stop()
	cfg, ok := o.open(a, "observe")
	if !ok {
		return nil
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // trouble with servers is a change like others
	client, err := cfg.Open(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.code = misconfigured(a.err, "observe", err)
		}
		return nil
	}
	defer func() { _ = client.Close() }() // nothing was done with it
	e, err := client.Elector(o.election)
	if err != nil {
		return a.misused("observe", err)
	}
	return o.follow(ctx, a, e)
}

// follow writes what changes until ctx ends, or nobody reads it any more.
func (o *observeCommand) follow(ctx context.Context, a *app, e election.Elector) error {
	var last change
	for l, err := range e.Observe(ctx) {
		now := newChange(o.election, time.Now(), l, err)
		now.after(last)
		last = now
		var failed error
		if o.json {
			failed = json.NewEncoder(a.out).Encode(now)
		} else {
			_, failed = fmt.Fprintln(a.out, now)
		}
		switch {
		case isGone(failed):
			return nil
		case failed != nil:
			return failed
		}
	}
	return nil
}

// newChange is what one answer of the store means.
func newChange(name string, at time.Time, l election.Leader, err error) change {
	c := change{Time: at, Election: name}
	switch {
	case err == nil:
		c.Event, c.Leader = leads, newStatusHolder(&l)
	case errors.Is(err, election.ErrNoLeader):
		c.Event = nobody
	default:
		c.Event, c.Error = unknown, oneLine(err)
	}
	return c
}

// after completes c by what was before.
func (c *change) after(last change) {
	if last.Time.IsZero() {
		return
	}
	c.SeenForMS = c.Time.Sub(last.Time).Milliseconds()
	c.before = fmt.Sprintf("%s %s", last.state(), round(time.Duration(c.SeenForMS)*time.Millisecond))
}

// state is what was so, in words that a time follows.
func (c change) state() string {
	switch c.Event {
	case leads:
		return called(c.Leader.ID) + " led for"
	case nobody:
		return "nobody led for at most"
	}
	return "it could not be told for"
}

// String is a line for people.
func (c change) String() string {
	var b strings.Builder
	b.WriteString(c.Time.Format("2006-01-02T15:04:05.000Z07:00") + "  ")
	switch c.Event {
	case leads:
		fmt.Fprintf(&b, "%s leads, with token %d", called(c.Leader.ID), c.Leader.Token)
		if about := c.Leader.about(); about != "" {
			fmt.Fprintf(&b, " (%s)", about)
		}
	case nobody:
		b.WriteString("nobody leads")
	default:
		b.WriteString("cannot tell who leads: " + c.Error)
	}
	if c.before != "" {
		fmt.Fprintf(&b, "; before, %s", c.before)
	}
	return b.String()
}

// round leaves of a duration what people read.
func round(d time.Duration) time.Duration {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond)
	case d < time.Minute:
		return d.Round(time.Second / 10)
	}
	return d.Round(time.Second)
}
