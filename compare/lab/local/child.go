package local

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/history"
	"incumbent/election"
)

// ChildMain turns the process into a candidate, or into who removes a lab's files in the
// end, if a lab started it as one: it then never returns. Call it first in main or
// TestMain. In any other process it returns at once.
func ChildMain() {
	if dir, ok := os.LookupEnv(janitorEnv); ok {
		janitorMain(dir)
	}
	if os.Getenv(childEnv) == "" {
		return
	}
	in := bufio.NewReader(os.Stdin)
	var cfg childConfig
	text, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &cfg)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v: only a lab sets it\n", childEnv, err)
		os.Exit(2)
	}
	c := newChild(cfg, os.Stdout)
	go c.listen(in)
	fmt.Fprintf(os.Stderr, "%s: %v\n", cfg.Name, c.campaign(context.Background()))
	os.Exit(1)
}

// child is a candidate, seen from inside its process.
type child struct {
	cfg     childConfig
	out     *lineWriter
	stamps  stamps
	resign  chan struct{}
	planted atomic.Bool

	far *farStore // nil where masters are the lab's

	deadline time.Time    // of the latest term, as the observer heard of it
	bidNow   atomic.Int64 // CLOCK_MONOTONIC when the latest bid was sent
}

func newChild(cfg childConfig, out io.Writer) *child {
	return &child{
		cfg: cfg, out: newLineWriter(out), resign: make(chan struct{}, 1),
		stamps: calibrate(election.SystemClock()),
	}
}

// listen obeys the lab, and ends the process when the lab is gone.
func (c *child) listen(in io.Reader) {
	s := bufio.NewScanner(in)
	for s.Scan() {
		switch s.Text() {
		case cmdResign:
			select {
			case c.resign <- struct{}{}:
			default: // asked already
			}
		case cmdPlant:
			c.planted.Store(true)
		case cmdUnplant:
			c.planted.Store(false)
		case cmdStats:
			c.tell(Line{Event: history.Event{Kind: kindStats}, Stats: &Stats{runtime.NumGoroutine(), openSockets()}})
		default:
			c.farCommand(s.Text())
		}
	}
	os.Exit(0)
}

// tell stamps a line, unless it is stamped, and sends it.
func (c *child) tell(l Line) {
	if l.At == 0 {
		l.At = monotonic()
	}
	l.Actor = c.cfg.Name
	c.out.write(l)
}

func (c *child) note(name string) { c.tell(Line{Event: history.Event{Kind: history.Note, Name: name}}) }

// campaign leads whenever it can, until it cannot go on, and says why.
func (c *child) campaign(ctx context.Context) error {
	store, err := c.open(ctx)
	if err != nil {
		return err
	}
	o := election.Options{
		ID: c.cfg.Name, TTL: c.cfg.TTL, Renew: c.cfg.Renew, StepDown: c.cfg.StepDown,
		Observer: c.observe, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if c.far != nil {
		c.far.configure(&o)
	}
	e, err := election.New(store, o)
	if err != nil {
		return err
	}
	for {
		if err := election.Run(ctx, e, c.work); err != nil {
			return err
		}
	}
}

func (c *child) open(ctx context.Context) (election.Store, error) {
	if c.cfg.Far != nil {
		if err := c.openFar(ctx); err != nil {
			return nil, err
		}
		return &toldStore{Store: c.far.store, c: c}, nil
	}
	clients := make([]redis.UniversalClient, len(c.cfg.Masters))
	for i, addr := range c.cfg.Masters {
		if c.cfg.Sentinels == nil {
			clients[i] = redis.NewClient(c.clientOptions(addr))
			continue
		}
		o := c.clientOptions(addr)
		clients[i] = redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: primaryName, SentinelAddrs: c.cfg.Sentinels, ContextTimeoutEnabled: o.ContextTimeoutEnabled,
			MaxRetries: o.MaxRetries, DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries,
		})
	}
	s, err := newStore(c.cfg.Mode, clients, c.cfg.Election, storeOptions(c.cfg.Prefix, c.cfg.Unguard, c.cfg.Acks))
	if err != nil {
		return nil, err
	}
	return &toldStore{Store: s, c: c}, nil
}

// clientOptions are go-redis' own, or those that leases need.
func (c *child) clientOptions(addr string) *redis.Options {
	o := &redis.Options{Addr: addr}
	if !c.cfg.Plain {
		o.ContextTimeoutEnabled = true
		o.MaxRetries = -1
		o.DialTimeout = c.cfg.TTL / 4
		o.DialerRetries = 1
	}
	return o
}

// observe translates what the elector reports.
func (c *child) observe(ev election.Event) {
	at := c.stamps.at(ev.At)
	l := Line{Event: history.Event{At: at, Token: uint64(ev.Token), Err: word(ev.Err)}, Took: ev.Took, Held: ev.Held}
	switch ev.Kind {
	case election.TermStarted:
		c.deadline = ev.Deadline
		l.Kind, l.Deadline = history.TermStarted, c.stamps.at(ev.Deadline)
		l.Took = at - time.Duration(c.bidNow.Load())
	case election.Renewed:
		c.deadline = ev.Deadline
		l.Kind, l.Deadline = history.Renewed, c.stamps.at(ev.Deadline)
	// Valid is false, and the context done, from the deadline on at the latest,
	// whenever that was noticed: whoever asks gets that answer.
	case election.TermStopping:
		l.Kind, l.Seen, l.At = history.TermStopping, at, min(at, c.stamps.at(c.deadline))
	case election.TermEnded:
		l.Kind, l.Seen, l.At = history.TermEnded, at, min(at, c.stamps.at(c.deadline))
	case election.BidRefused:
		l.Kind, l.Name = history.Note, NoteRefused
	case election.RenewFailed:
		l.Kind, l.Name = history.Note, NoteRenewFailed
	case election.TermReleased:
		l.Kind, l.Name = history.Note, NoteReleased
	default:
		return
	}
	c.tell(l)
}

// word puts an error in words that do not vary from run to run.
func word(err error) string {
	var loss *election.Loss
	var held *election.HeldError
	var master *election.MasterError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &loss):
		return loss.Word()
	case errors.As(err, &held):
		return "held"
	case errors.As(err, &master):
		return master.Op + ": " + master.Kind.Error()
	}
	for _, known := range []error{
		election.ErrGuarded, election.ErrContended, election.ErrTooSlow, election.ErrTokenRegressed, election.ErrExpired, election.ErrTaken,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "other"
}
