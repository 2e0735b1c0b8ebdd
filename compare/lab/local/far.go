package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/history"
	"incumbent/config"
	"incumbent/internal/vote"
)

// Far describes masters that belong to somebody else. They are asked by package config,
// as its users do, for what elections need, and for the time that a lease has left
// (PTTL); nobody starts, stops, changes or harms them. Whatever happens to a link happens
// at its near end, on this machine.
type Far struct {
	// Lab is what histories call the lab.
	Lab string
	// Sources are what candidates read their configuration from. All that the lab's
	// Options say of leases must be in them, too, as must be the mode. Candidates get
	// them through a pipe, since they may hold passwords: neither their arguments nor
	// their environment do.
	Sources config.Sources
	// Client holds the lab's own connections, by the same configuration. It is not
	// closed with the lab.
	Client *config.Client
}

// farMasters are places for masters of somebody else. None of them has a process.
func (l *Lab) farMasters() {
	for i, s := range l.opt.Far.Client.Servers() {
		m := &server{addr: s.Name, far: s.Client}
		l.places = append(l.places, &place{name: fmt.Sprintf("master-%d", i+1), primary: m, servers: []*server{m}})
	}
}

// asked is the connection for questions that harm nobody. Nothing else is ever sent to
// a server that has no direct one.
func (s *server) asked() redis.UniversalClient {
	if s.far != nil {
		return s.far
	}
	return s.direct
}

// farLinks starts what connects candidates to masters: the far end of all proxies.
func (l *Lab) farLinks() (err error) {
	if l.opt.Far != nil {
		l.exchange, err = newExchange()
	}
	return err
}

// farChild is what a candidate is told of masters that belong to somebody else.
type farChild struct {
	Path    string       `json:"path"`
	YAML    []byte       `json:"yaml"`
	Environ []string     `json:"environ"`
	Flags   config.Flags `json:"flags"`
	// Ticket lets it through the exchange, at the far end of Links: a proxy for each
	// master.
	Ticket string   `json:"ticket"`
	Links  []string `json:"links"`
}

// farConfig is what the candidate of a slot is told; nil where masters are the lab's.
func (l *Lab) farConfig(slot int) *farChild {
	if l.opt.Far == nil {
		return nil
	}
	s := l.opt.Far.Sources
	f := &farChild{Path: s.Path, YAML: s.YAML, Environ: s.Environ, Flags: s.Flags, Ticket: l.exchange.ticket}
	for _, p := range l.proxies[slot] {
		f.Links = append(f.Links, p.Addr())
	}
	return f
}

// dialer dials through the link to the master of that name. Addresses that are found
// while it runs, such as that of a primary behind Sentinels, share the first link.
func (f *farChild) dialer(names []string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		return dialThrough(ctx, f.Links[max(0, slices.Index(names, address))], f.Ticket, address)
	}
}

// withoutSettings drops the variables that package config reads: they may hold
// passwords, and other users of the machine may read a child's.
func withoutSettings(environ []string) []string {
	return slices.DeleteFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, "INCUMBENT_") })
}

// NoteListening is the name of a note: a standby has subscribed to wake-ups. It is told
// only with Options.Far, where the lab may not ask masters for that.
const NoteListening = "listening"

// hints passes wake-ups on. The first one says that the subscription was made.
func (s *toldStore) hints(ctx context.Context, in <-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	told := false
	go func() { // ends with the campaign
		for {
			select {
			case <-ctx.Done():
				return
			case <-in:
			}
			if s.c.cfg.Trace {
				s.c.note(NoteWoken)
			}
			if s.c.cfg.Far != nil && !told {
				told = true
				s.c.note(NoteListening)
			}
			select {
			case out <- struct{}{}:
			default: // one hint waits already
			}
		}
	}()
	return out
}

// farListen reports whether all candidates but one have said that they are subscribed,
// and have not led since.
func (l *Lab) farListen(leader string) bool {
	for _, c := range l.fleet.running() {
		if c.name != leader && !l.rec.listens(c.name) {
			return false
		}
	}
	return true
}

// errEnded is the error of a candidate that ended by itself.
var errEnded = errors.New("it ended by itself")

// farEnded is an error when a candidate has ended: where masters are somebody else's
// that is their refusal, and waiting does not help.
func (l *Lab) farEnded() error {
	if l.opt.Far == nil {
		return nil
	}
	for slot := range l.opt.Candidates {
		if c := l.fleet.at(slot); c != nil && !c.proc.Running() {
			return fmt.Errorf("local: candidate %s: %w", c.name, errEnded)
		}
	}
	return nil
}

// farInit says at masters of somebody else that nobody leads the lab's own election.
func (l *Lab) farInit(ctx context.Context) error {
	return l.opt.Far.Client.Init(ctx, l.opt.Election)
}

// forgetAtOnce is how many elections one request forgets, so that thousands are neither
// a load nor take long.
const forgetAtOnce = 100

// Forget removes the keys of elections at one server, and returns how many there were,
// also with an error. Nobody may campaign in them any more.
func Forget(ctx context.Context, c redis.UniversalClient, prefix string, names ...string) (n int64, err error) {
	atOnce := forgetAtOnce
	if _, ok := c.(*redis.ClusterClient); ok {
		atOnce = 1 // two elections may be at two nodes
	}
	for some := range slices.Chunk(names, atOnce) {
		var all []string
		for _, name := range some {
			keys, err := vote.NewKeys(prefix, name)
			if err != nil {
				return n, err
			}
			all = append(all, keys.Lease, keys.Record)
		}
		k, err := c.Del(ctx, all...).Result()
		if err != nil {
			return n, err
		}
		n += k
	}
	return n, nil
}

// listening follows who is subscribed, by what they told. r.mu is held.
func (r *recorder) listening(l Line) {
	switch {
	case l.Kind == history.TermStarted:
		delete(r.subscribed, l.Actor)
	case l.Kind == history.Note && l.Name == NoteListening:
		r.subscribed[l.Actor] = true
	}
}

// listens reports whether a candidate is subscribed, as far as it has told.
func (r *recorder) listens(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.subscribed[name]
}
