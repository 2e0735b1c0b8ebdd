package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/quorum"
	"incumbent/single"
)

// childMain turns the process into a candidate if a contest started it as one:
// it then never returns.
func childMain() {
	text, ok := os.LookupEnv(childEnv)
	if !ok {
		return
	}
	var cfg childConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v: only a test sets it\n", childEnv, err)
		os.Exit(2)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &child{
		cfg: cfg, clock: election.SystemClock(), out: json.NewEncoder(os.Stdout),
		goOn: make(chan byte, 16), ending: ctx,
	}
	go c.listen(os.Stdin, cancel)
	if err := c.run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s of %s: %v\n", cfg.Name, cfg.Election, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a candidate, seen from inside its process.
type child struct {
	cfg     childConfig
	clock   election.Clock
	goOn    chan byte       // answers to checks
	ending  context.Context // ends when the test wants no more
	targets []target

	mu  sync.Mutex
	out *json.Encoder
}

// listen takes the answers to checks, and ends the candidate with its input.
func (c *child) listen(in io.Reader, end func()) {
	defer end()
	b := make([]byte, 1)
	for {
		if _, err := in.Read(b); err != nil {
			return
		}
		c.goOn <- b[0]
	}
}

// tell stamps a line, unless it is stamped, and sends it.
func (c *child) tell(l line) {
	if l.At == 0 {
		l.At = monotonic()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.out.Encode(l); err != nil {
		os.Exit(1) // nobody listens
	}
}

// run leads whenever it can, until the test wants no more.
func (c *child) run(ctx context.Context) error {
	store, err := newStore(c.cfg)
	if err != nil {
		return err
	}
	if c.targets, err = openTargets(c.cfg); err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	if c.cfg.Chatty {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("election", c.cfg.Election, "candidate", c.cfg.Name)
	}
	e, err := election.New(store, election.Options{
		ID: c.cfg.Name, TTL: ttl, Clock: c.clock, Observer: c.observe, Logger: log,
	})
	if err != nil {
		return err
	}
	var guards []election.Guard
	for _, t := range c.targets {
		if c.cfg.Raise {
			guards = append(guards, toldGuard{t, c})
		}
	}
	work := c.work
	if c.cfg.Inside {
		work = c.workInside
	}
	err = election.Run(ctx, e, work, guards...)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(err, e.Close(bounded))
}

// electionStore is what both kinds of store can.
type electionStore interface {
	election.Store
	Init(context.Context) error
}

func newStore(cfg childConfig) (electionStore, error) {
	clients := make([]redis.UniversalClient, len(cfg.Masters))
	for i, addr := range cfg.Masters {
		clients[i] = electionClient(addr)
	}
	return storeOn(cfg.Mode, cfg.Election, clients)
}

func storeOn(mode, name string, clients []redis.UniversalClient) (electionStore, error) {
	if mode == "single" {
		return single.New(clients[0], name, single.Options{})
	}
	return quorum.New(clients, name, quorum.Options{})
}

// electionClient has the options that leases need.
func electionClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true, MaxRetries: -1,
		DialTimeout: ttl / 4, DialerRetries: 1,
	})
}

// observe tells what concerns terms.
func (c *child) observe(ev election.Event) {
	l := line{Token: ev.Token, At: monotonic() - c.clock.Now().Sub(ev.At)}
	switch ev.Kind {
	case election.CampaignStarted:
		l.Kind = campaigning
	case election.BidRefused:
		l.Kind, l.Err = lost, fmt.Sprint(ev.Err)
	case election.TermStarted:
		l.Kind = started
	case election.TermEnded:
		l.Kind = ended
		var loss *election.Loss
		if errors.As(ev.Err, &loss) {
			l.Err = loss.Word()
		}
	default:
		return
	}
	c.tell(l)
}

// toldGuard tells when the guard of a target is raised.
type toldGuard struct {
	target
	c *child
}

// Raise implements election.Guard.
func (g toldGuard) Raise(ctx context.Context, t election.Token) error {
	g.c.tell(line{Kind: raising, Token: t, Resource: g.name()})
	err := g.target.Raise(ctx, t)
	if err == nil {
		g.c.tell(line{Kind: raised, Token: t, Resource: g.name()})
	}
	return err
}

// work checks and writes, for as long as the term is valid.
func (c *child) work(ctx context.Context, t *election.Term) error {
	for t.Valid() {
		answer, ok := c.await(t)
		if !ok {
			return nil
		}
		// Here the pause was. What the term says now is told and not heeded: the
		// check came before.
		look := func() { c.tell(line{Kind: looked, Token: t.Token(), Valid: t.Valid(), Live: ctx.Err() == nil}) }
		if answer == lookFirst {
			look()
		}
		err := c.actAll(t)
		if answer != lookFirst {
			look()
		}
		c.tell(line{Kind: acted, Token: t.Token()})
		if err != nil {
			return err
		}
	}
	return nil
}

// await tells that a check was passed and waits for the answer, whatever
// becomes of the term meanwhile; ok is false if the test wants no more.
func (c *child) await(t *election.Term) (answer byte, ok bool) {
	c.tell(line{Kind: checked, Token: t.Token()})
	select {
	case answer = <-c.goOn:
		return answer, true
	case <-c.ending.Done():
		return 0, false
	}
}

// actAll writes to each target, past its guard and through it. The error is
// that of a fence.
func (c *child) actAll(t *election.Term) error {
	var fenced error
	for _, g := range c.targets {
		_ = c.act(g, t, false, g.open) // nothing there can refuse
		fenced = errors.Join(fenced, c.act(g, t, true, g.guarded))
	}
	return fenced
}

// act writes, tells what became of it, and returns the error of a fence. The
// write's context is not the term's: a write that is on its way cannot be
// called back either.
func (c *child) act(g target, t *election.Term, guarded bool, write func(context.Context, election.Token) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l := line{Kind: act, Token: t.Token(), Resource: g.name(), Guarded: guarded, From: monotonic()}
	err := write(ctx, t.Token())
	var fenced *election.FencedError
	switch {
	case err == nil:
		l.Outcome = accepted
	case errors.As(err, &fenced):
		l.Outcome, l.Known = refused, fenced.Known
	default:
		l.Outcome, l.Err = failed, err.Error()
	}
	c.tell(l)
	if l.Outcome != refused {
		return nil
	}
	return err
}

// workInside checks with the database and writes in the same transaction; the
// pause comes in between.
func (c *child) workInside(_ context.Context, t *election.Term) error {
	db, ok := c.targets[0].(*database)
	if !ok {
		return errors.New("a transaction needs PostgreSQL")
	}
	for t.Valid() {
		err := c.act(db, t, true, func(ctx context.Context, token election.Token) error {
			return db.inside(ctx, token, func() error {
				if _, ok := c.await(t); !ok {
					return c.ending.Err()
				}
				return nil
			})
		})
		c.tell(line{Kind: acted, Token: t.Token()})
		if err != nil || c.ending.Err() != nil {
			return err
		}
	}
	return nil
}
