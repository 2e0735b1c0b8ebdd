package config

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
	"incumbent/quorum"
	"incumbent/single"
)

// Client holds the connections of a process, which all its elections share. Its
// methods may be called from many goroutines.
type Client struct {
	given   Config // what is missing follows the TTL, which an elector may change
	cfg     Config // with defaults
	clients []redis.UniversalClient
	servers []server // what each of them leads to
	sent    counter
	closing sync.Once
	closed  error // what the closing gave

	mu       sync.Mutex
	isClosed bool
	electors map[string]*elector
	stores   []election.Store
}

// Open validates the configuration, makes the clients, logs Warnings, and looks
// at the servers once. What no waiting cures is an error then: a server that is
// too old, scripts that are disabled, the wrong kind of client, two masters of
// a quorum that are one server. Anything else, such as a store that is down or
// a password that is refused, is logged in one line and no error: candidates
// keep trying. ctx and a few timeouts bound the look. Close the client in any
// case. Later changes of c have no effect on it.
func (c *Config) Open(ctx context.Context) (*Client, error) {
	cl, err := c.connect()
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings() {
		cl.cfg.Logger.Warn(w)
	}
	fatal, trouble := cl.look(ctx)
	if fatal != nil {
		return nil, errors.Join(fatal, cl.disconnect())
	}
	if trouble != nil {
		cl.cfg.Logger.Warn("servers cannot serve elections yet; candidates keep trying",
			"mode", cl.cfg.Mode, "failing", count(trouble), "of", len(cl.clients), "error", oneLineError{trouble})
	}
	return cl, nil
}

// connect validates the configuration and makes the clients, which sends nothing.
func (c *Config) connect() (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !c.KeepRedisLog {
		quietDials()
	}
	cl := &Client{given: *c, cfg: c.withDefaults(), electors: map[string]*elector{}}
	for _, s := range c.servers() {
		o, err := c.common(s)
		if err != nil {
			return nil, errors.Join(err, cl.disconnect())
		}
		client := s.open(o)
		client.AddHook(&cl.sent)
		cl.clients = append(cl.clients, client)
		cl.servers = append(cl.servers, s)
	}
	return cl, nil
}

// count is how many errors were joined.
func count(err error) int {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return len(joined.Unwrap())
	}
	return 1
}

// voteOptions are those of a store whose elector, if it has one, has this logger
// and clock.
func (cl *Client) voteOptions(l *slog.Logger, clock election.Clock) vote.Options {
	c := &cl.cfg
	return vote.Options{
		Prefix: c.Prefix, Timeout: c.Timeout, Retention: c.Retention,
		GuardsOff: c.GuardsOff, AssumeNew: c.AssumeNew, ReplicaAcks: c.ReplicaAcks, MaxTTL: c.MaxTTL,
		Logger: l, Clock: clock,
	}
}

// store is what all modes give.
type store interface {
	election.Store
	Init(ctx context.Context) error
}

func (cl *Client) newStore(name string, l *slog.Logger, clock election.Clock) (store, error) {
	o := cl.voteOptions(l, clock)
	switch cl.cfg.Mode {
	case ModeQuorum:
		return quorum.New(cl.clients, name, o)
	case ModeBoth:
		return cl.newBoth(name, o)
	}
	return single.New(cl.clients[0], name, o)
}

// Elector makes the candidate of this process in the named election: one
// election a job, and a name is mandatory, since whoever uses the same one
// takes part in the same election. A name may be used once at a time: close its
// elector before making another. Options are as configured; each function may
// change them, for what no file can hold: Observer, Health, Logger, Clock.
// What an elector logs has the attribute "election", unless such a function sets a
// Logger of its own.
func (cl *Client) Elector(name string, change ...func(*election.Options)) (election.Elector, error) {
	o, log := cl.options(), cl.cfg.Logger.With("election", name)
	o.Logger = log
	for _, f := range change {
		f(&o)
	}
	if o.Logger == nil {
		o.Logger = log
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.isClosed {
		return nil, fmt.Errorf("election %q: %w", name, election.ErrClientClosed)
	}
	if cl.electors[name] != nil {
		return nil, fmt.Errorf("election %q: this client has an elector for it already: close that one first, or use it", name)
	}
	store, err := cl.newStore(name, o.Logger, o.Clock)
	if err != nil {
		return nil, err
	}
	inner, err := election.New(store, o)
	if err != nil {
		return nil, err
	}
	e := &elector{inner, cl, name}
	cl.electors[name] = e
	return e, nil
}

func (cl *Client) options() election.Options {
	c := cl.given
	return election.Options{
		ID: c.ID, Metadata: c.Metadata, TTL: c.TTL, MaxTTL: c.MaxTTL, Renew: c.Renew, StepDown: c.StepDown,
		Grace: c.Grace, MaxTerm: c.MaxTerm, Logger: cl.cfg.Logger,
	}
}

// Store makes a store of the named election, for those who only look: Inspect
// says what each master keeps.
func (cl *Client) Store(name string) (election.Store, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.isClosed {
		return nil, fmt.Errorf("election %q: %w", name, election.ErrClientClosed)
	}
	s, err := cl.newStore(name, cl.cfg.Logger, nil)
	if err != nil {
		return nil, err
	}
	cl.stores = append(cl.stores, s)
	return s, nil
}

// Init says that nobody can be leading the named election, so that the first
// campaign does not wait for guards of the store: once, before the first election
// ever, or after the servers were wiped on purpose, while no candidate runs. Never
// call it whenever a service starts: a master that came back empty must wait.
//
// It refuses with a *election.HeldError while somebody holds the lease at any
// master. Otherwise all masters must take it. The error names each that did not
// (*election.MasterError); the others will not wait, and calling Init again is
// harmless. ctx and a few timeouts bound it.
func (cl *Client) Init(ctx context.Context, name string) error {
	cl.mu.Lock()
	closed := cl.isClosed
	cl.mu.Unlock()
	if closed {
		return fmt.Errorf("election %q: %w", name, election.ErrClientClosed)
	}
	s, err := cl.newStore(name, cl.cfg.Logger, nil)
	if err != nil {
		return err
	}
	if err := s.Init(ctx); err != nil {
		return fmt.Errorf("election %q: init: %w", name, err)
	}
	return nil
}

// elector frees its name when it is closed.
type elector struct {
	election.Elector
	client *Client
	name   string
}

// Close implements election.Elector.
func (e *elector) Close(ctx context.Context) error {
	if err := e.Elector.Close(ctx); err != nil {
		return err
	}
	e.client.mu.Lock()
	defer e.client.mu.Unlock()
	if e.client.electors[e.name] == e {
		delete(e.client.electors, e.name)
	}
	return nil
}

// Close closes all electors, each as its own Close does, for at most Grace and
// a few timeouts, and then the connections. Later calls wait for the first one
// and return what it did.
func (cl *Client) Close() error {
	cl.closing.Do(func() { cl.closed = cl.close() })
	return cl.closed
}

func (cl *Client) close() error {
	cl.mu.Lock()
	cl.isClosed = true
	var closers []func(context.Context) error
	for _, e := range cl.electors {
		closers = append(closers, e.Close)
	}
	for _, s := range cl.stores {
		closers = append(closers, s.Settle)
	}
	cl.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), cl.patience())
	defer cancel()
	errs := make([]error, len(closers))
	var wg sync.WaitGroup
	for i, f := range closers {
		wg.Go(func() { errs[i] = f(ctx) })
	}
	wg.Wait()
	return errors.Join(append(errs, cl.disconnect())...)
}

// patience is how long Close waits for work to stop and leases to be released.
func (cl *Client) patience() time.Duration { return max(cl.cfg.Grace, 0) + 4*cl.cfg.Timeout }

func (cl *Client) disconnect() error {
	var errs []error
	for _, c := range cl.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
