// Package blackhole is a TCP proxy that can go dark.
//
// It does not promise what the kernel keeps for itself: bytes swallowed during
// a cut were acknowledged by the proxy, so a sender sees no retransmission and
// no full window, only silence; half-closed connections are closed whole; and
// a chunk is whatever one read returned, not a message of any protocol. A loss is
// only its cost in time: no segment of TCP is ever lost between two ends of one
// host.
//
// A proxy listens on a free loopback port and forwards to one target. What
// passes, is delayed or is swallowed is decided when bytes are about to be
// delivered, so bytes that a delay still holds when a cut begins are lost too.
package blackhole

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Direction names one of the two ways through a proxy.
type Direction int

// Requests flow from the client to the target, replies from the target to the client.
const (
	Requests Direction = iota
	Replies
)

// String returns "requests" or "replies".
func (d Direction) String() string {
	switch d {
	case Requests:
		return "requests"
	case Replies:
		return "replies"
	}
	return fmt.Sprintf("Direction(%d)", int(d))
}

// Stats counts what a proxy has seen since New.
type Stats struct {
	Accepted  int64    // connections accepted
	Open      int64    // connections open now
	Forwarded [2]int64 // bytes delivered, by Direction
	Swallowed [2]int64 // bytes lost to a cut or to a dropped reply, by Direction
	Commands  int64    // of Redis that clients have sent and that were not swallowed
}

// Proxy forwards TCP connections to a target until it is told not to. Its
// methods may be called from several goroutines.
type Proxy struct {
	listener net.Listener
	ctx      context.Context // done when the proxy closes
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu     sync.Mutex // guards what follows
	target string
	links  map[*link]struct{}
	cut    [2]bool

	delay     [2]atomic.Int64
	loss      atomic.Uint64 // the bits of a share
	drop      atomic.Pointer[drop]
	accepted  atomic.Int64
	forwarded [2]atomic.Int64
	swallowed [2]atomic.Int64
	commands  atomic.Int64
}

// drop is an armed order to lose one reply.
type drop struct {
	match func(request []byte) bool
	after func(l *link) // what becomes of the connection
	done  chan struct{}
}

// New listens on a free loopback port and forwards to target, a host:port. The
// target is dialled anew for each connection and need not be up yet; while it
// refuses, clients are reset.
func New(target string) (*Proxy, error) {
	if err := checkTarget(target); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("blackhole: listen in front of %s: %w", target, err)
	}
	p := &Proxy{target: target, listener: ln, links: make(map[*link]struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.accept)
	return p, nil
}

func checkTarget(target string) error {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return fmt.Errorf("blackhole: target %q: %w: give it as host:port", target, err)
	}
	return nil
}

// Retarget forwards to another target, a host:port, from now on. All open
// connections are reset, so that clients come again and meet the new one. Cuts,
// delays, losses and an armed drop stay.
func (p *Proxy) Retarget(target string) error {
	if err := checkTarget(target); err != nil {
		return err
	}
	p.mu.Lock()
	p.target = target
	links := p.takeLocked()
	p.mu.Unlock()
	resetAll(links)
	return nil
}

// Target returns where new connections are forwarded to.
func (p *Proxy) Target() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

// Addr returns the host:port that clients dial.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut swallows all bytes in both directions, ends of connections included.
// Connections stay open, without a reset; new ones are accepted and stay
// silent, and the target does not learn of them. No byte is delivered after Cut
// has returned.
func (p *Proxy) Cut() { p.cutLinks(Requests, Replies) }

// CutOneWay is Cut for one direction: the other one keeps flowing. A second
// call with the other direction adds to the first.
func (p *Proxy) CutOneWay(dir Direction) { p.cutLinks(dir) }

// Heal ends every cut. What was swallowed is lost for good and would leave a
// hole in the stream, so the connections that were open during the cut are
// reset, as are those that MuteReplyTo has silenced; new ones work, and one that
// still waited to be accepted is new. Delays, losses and an armed drop stay.
// Where nothing is silent Heal does nothing.
func (p *Proxy) Heal() {
	p.mu.Lock()
	links := make(map[*link]struct{})
	if p.cut != [2]bool{} {
		links = p.takeLocked()
	}
	p.cut = [2]bool{}
	for l := range p.links {
		if l.silent[Requests].Load() || l.silent[Replies].Load() {
			links[l] = struct{}{}
		}
	}
	p.mu.Unlock()
	resetAll(links)
}

// Delay makes every chunk that arrives from now on in that direction wait for d
// before it is delivered; order is kept and throughput is not limited. Zero or
// less means no delay.
func (p *Proxy) Delay(dir Direction, d time.Duration) { p.delay[dir].Store(int64(d)) }

// Lose makes every chunk that arrives from now on, in both directions, as late as
// if that share of all tries to send it were lost: 200 ms for the first one, twice
// as long for each further one, and all that follows on the connection waits
// behind it. The share is from 0, no loss, to below 1; what is outside is taken
// for the nearest, 0.99 at most.
func (p *Proxy) Lose(share float64) { p.loss.Store(math.Float64bits(min(max(share, 0), 0.99))) }

// retransmission is after what time TCP on Linux sends again at first.
const (
	retransmission = 200 * time.Millisecond
	mostTries      = 10
)

// late draws how late a chunk is.
func (p *Proxy) late(dir Direction) time.Duration {
	d := time.Duration(p.delay[dir].Load())
	share := math.Float64frombits(p.loss.Load())
	for i := 0; share > 0 && i < mostTries && rand.Float64() < share; i++ {
		d += retransmission << i
	}
	return d
}

// DropNextReply loses one reply: the next request that is forwarded, on any
// connection, reaches the target; the first bytes that come back on that
// connection are swallowed and the connection is closed. The returned channel
// is closed once that has happened, and never if no request or no reply comes. A
// later call replaces an order that no request has met yet.
//
// Clients greet the server on a new connection; to lose the reply to a
// particular command use DropReplyTo.
func (p *Proxy) DropNextReply() <-chan struct{} {
	return p.DropReplyTo(func([]byte) bool { return true })
}

// DropReplyTo is DropNextReply for the next request for which match reports
// true. match sees the bytes of one read, must not keep them and must not call
// the proxy.
func (p *Proxy) DropReplyTo(match func(request []byte) bool) <-chan struct{} {
	return p.arm(match, func(l *link) { l.close(false) })
}

// ResetReplyTo is DropReplyTo, but the connection is reset and not closed in an
// orderly way.
func (p *Proxy) ResetReplyTo(match func(request []byte) bool) <-chan struct{} {
	return p.arm(match, func(l *link) { l.close(true) })
}

// MuteReplyTo is DropReplyTo, but the connection stays open and nothing more
// passes on it, either way, until Heal resets it.
func (p *Proxy) MuteReplyTo(match func(request []byte) bool) <-chan struct{} {
	return p.arm(match, func(l *link) {
		l.silent[Requests].Store(true) // what is being delivered now still passes
		l.silent[Replies].Store(true)
	})
}

// KeepReplies takes back an order to lose a reply that no request has met yet.
func (p *Proxy) KeepReplies() { p.drop.Store(nil) }

func (p *Proxy) arm(match func(request []byte) bool, after func(*link)) <-chan struct{} {
	d := &drop{match, after, make(chan struct{})}
	p.drop.Store(d)
	return d.done
}

// Reset resets (RST) all open connections on both sides. New ones are treated
// as before the call.
func (p *Proxy) Reset() {
	p.mu.Lock()
	links := p.takeLocked()
	p.mu.Unlock()
	resetAll(links)
}

// Close stops listening, resets all connections and returns when every
// goroutine of the proxy has ended. It may be called more than once.
func (p *Proxy) Close() error {
	p.cancel()
	_ = p.listener.Close() // a second Close only finds it closed already
	p.Reset()
	p.wg.Wait()
	return nil
}

// Stats returns the counters as they are now.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	s := Stats{Accepted: p.accepted.Load(), Open: int64(len(p.links)), Commands: p.commands.Load()}
	p.mu.Unlock()
	for d := range s.Forwarded {
		s.Forwarded[d], s.Swallowed[d] = p.forwarded[d].Load(), p.swallowed[d].Load()
	}
	return s
}

// cutLinks silences links outside of p.mu: a delivery in progress may need it
// to close its link. Links opened meanwhile see p.cut.
func (p *Proxy) cutLinks(dirs ...Direction) {
	p.mu.Lock()
	for _, d := range dirs {
		p.cut[d] = true
	}
	links := maps.Clone(p.links)
	p.mu.Unlock()
	for l := range links {
		for _, d := range dirs {
			l.silence(d)
		}
	}
}

// takeLocked empties the set of open connections and returns what was in it.
func (p *Proxy) takeLocked() map[*link]struct{} {
	links := p.links
	p.links = make(map[*link]struct{})
	return links
}

func resetAll(links map[*link]struct{}) {
	for l := range links {
		l.close(true)
	}
}
