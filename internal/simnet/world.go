package simnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// A World is a network of hosts, which run clients, and masters, each pair of
// which is joined by a link. Methods are safe for concurrent use.
type World struct {
	seed    uint64
	opts    Options
	modulus int64

	mu          sync.Mutex // guards all that follows, and the parts; never held while time passes
	hosts       map[string]*host
	hostList    []*host // in order of creation
	masters     []*Master
	sources     map[string]*Source
	links       int
	nextResidue int64
	clients     []*redis.Client
	closed      bool

	queue   eventQueue
	seq     uint64
	timer   *time.Timer // runs w.run
	armed   int64       // what the timer is set to; 0 if not set
	running bool

	native  map[string]NativeScript
	scratch []byte // for replies

	onCommand func(Command)
	traced    []Command // not yet reported
}

// New returns an empty world whose randomness comes from seed. It must be called
// inside a synctest bubble, and fails outside of one or when opts are not valid.
func New(seed uint64, opts Options) (*World, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	// A bubble's clock starts in the year 2000.
	if time.Now().Year() > 2019 {
		return nil, errors.New("simnet: New was called outside a testing/synctest bubble: " +
			"time would be real and the history would differ from run to run")
	}
	w := &World{
		seed:    seed,
		opts:    opts,
		modulus: int64(opts.Residues),
		hosts:   map[string]*host{},
		sources: map[string]*Source{},
	}
	w.timer = time.AfterFunc(time.Hour, w.run)
	w.timer.Stop()
	return w, nil
}

// Close closes all clients made by [World.Client], breaks all connections, thaws
// all hosts and then waits for two seconds of virtual time, until what go-redis
// leaves behind has ended. Subscriptions (*redis.PubSub) are for their owner to
// close, before this call. Nothing may be used afterwards.
func (w *World) Close() {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	w.closed = true
	w.timer.Stop()
	w.queue = nil
	for _, h := range w.hostList {
		h.open()
		for _, l := range h.linkList {
			for _, c := range l.conns {
				c.abort()
			}
		}
	}
	clients := w.clients
	w.mu.Unlock()

	for _, c := range clients {
		c.Close() // an error only says that its owner was quicker
	}
	time.Sleep(2 * time.Second) // a dialing pool looks up once a second
	for _, m := range w.masters {
		m.redis.Close()
	}
}

// Client returns a go-redis client on host for m, with [World.ClientOptions] as
// changed by mutate, which may be nil. [World.Close] closes it, or its owner may.
func (w *World) Client(host string, m *Master, mutate func(*redis.Options)) *redis.Client {
	opts := w.ClientOptions(host, m)
	if mutate != nil {
		mutate(opts)
	}
	c := redis.NewClient(opts)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients = append(w.clients, c)
	return c
}

// ClientOptions returns the options for a client on host for m that suits a
// bubble: it dials through the simulated network, never retries by itself, heeds
// contexts, and does nothing that would look up a name, pool a timer or use a
// clock of its own. Timeouts are left to go-redis' defaults.
func (w *World) ClientOptions(host string, m *Master) *redis.Options {
	return &redis.Options{
		Addr:                  m.Addr(),
		Dialer:                w.Dialer(host),
		Protocol:              2,
		DisableIdentity:       true,
		MaxRetries:            -1,
		DialerRetries:         1,
		PoolSize:              64, // a wait for a turn would use a timer pooled across bubbles
		ContextTimeoutEnabled: true,
		ReadBufferSize:        2048,
		WriteBufferSize:       2048,
		// One of 128 KiB each would be made for every client that sends a pipeline.
		PipelineReadBufferSize:  2048,
		PipelineWriteBufferSize: 16384,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
}

// Dialer returns a dial function for host that reaches masters by their address
// ([Master.Addr]), for clients that are not made by [World.Client].
func (w *World) Dialer(host string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.host(host)
	for _, m := range w.masters {
		w.link(h, m) // draws its residues now, not in the first goroutine that dials
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		prompt := fromPubSub()
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, m := range w.masters {
			if m.addr.String() != addr {
				continue
			}
			if l := w.link(h, h.reaches(m)); !prompt {
				return l.dial(ctx, m)
			}
			return w.link(h, h.reaches(m)).dialPrompt(ctx, m)
		}
		return nil, fmt.Errorf("simnet: %s dials %q: no master has this address", host, addr)
	}
}

// A host is where clients run.
type host struct {
	w        *World
	name     string
	ip       net.IP
	residue  int64
	isolated bool
	frozen   bool
	waiters  []*waiter
	links    map[*Master]*link
	linkList []*link
	routes   map[*Master]*Master // who is reached under whose address, where that is another
}

// host returns the host of that name, which exists from its first mention on.
func (w *World) host(name string) *host {
	h := w.hosts[name]
	if h == nil {
		n := len(w.hosts) + 1
		h = &host{
			w:       w,
			name:    name,
			ip:      net.IPv4(10, 1, byte(n>>8), byte(n)),
			residue: w.residues(1),
			links:   map[*Master]*link{},
		}
		w.hosts[name] = h
		w.hostList = append(w.hostList, h)
	}
	return h
}
