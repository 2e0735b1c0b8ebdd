package blackhole

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	acceptRetry = 10 * time.Millisecond // pause after a failed accept, such as too many open files
	queued      = 256                   // chunks that a delay may hold before the sender is slowed down
	chunkSize   = 32 << 10
)

// link is one client connection and its connection to the target. Once a
// direction of it is silent it stays so: Heal replaces links, because a stream
// with a hole must never be continued.
type link struct {
	p      *Proxy
	to     string          // the target
	ctx    context.Context // done when the link closes
	cancel context.CancelFunc

	silent   [2]atomic.Bool
	delivery [2]sync.Mutex // held from the check of silent to the end of the write
	drop     atomic.Pointer[drop]
	commands commandCounter // under delivery[Requests]

	mu     sync.Mutex // guards what follows
	client net.Conn
	target net.Conn // nil until dialled
	closed bool
}

// chunk is what one read returned, to be delivered when due.
type chunk struct {
	data []byte
	end  bool // the sender closed or broke its connection
	due  time.Time
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err == nil {
			p.accepted.Add(1)
			p.open(c)
			continue
		}
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(acceptRetry):
		}
	}
}

// open starts a link for a new client, silent where a cut is in force.
func (p *Proxy) open(c net.Conn) {
	l := &link{p: p, client: c}
	l.ctx, l.cancel = context.WithCancel(p.ctx)
	p.mu.Lock()
	l.to = p.target
	p.links[l] = struct{}{}
	for d, cut := range p.cut {
		l.silent[d].Store(cut)
	}
	p.mu.Unlock()
	if p.ctx.Err() != nil { // Close may have emptied the set just before
		l.close(true)
		return
	}
	p.wg.Go(l.serve)
}

// serve dials the target, unless the client is fully cut off from it, and
// starts the pumps.
func (l *link) serve() {
	if !l.silent[Requests].Load() || !l.silent[Replies].Load() {
		if err := l.dial(); err != nil && !l.silent[Replies].Load() {
			l.close(true)
			return
		}
	}
	l.start(Requests, l.conn(Requests))
	if c := l.conn(Replies); c != nil {
		l.start(Replies, c)
	}
}

func (l *link) dial() error {
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(l.ctx, "tcp", l.to)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		shut(c, true)
		return net.ErrClosed
	}
	l.target = c
	return nil
}

// conn returns the connection that bytes of direction d come from.
func (l *link) conn(d Direction) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d == Requests {
		return l.client
	}
	return l.target
}

func (l *link) start(d Direction, src net.Conn) {
	queue := make(chan chunk, queued)
	l.p.wg.Go(func() { l.read(d, src, queue) })
	l.p.wg.Go(func() { l.deliver(d, queue) })
}

func (l *link) read(d Direction, src net.Conn, queue chan<- chunk) {
	buf := make([]byte, chunkSize)
	for {
		n, err := src.Read(buf)
		c := chunk{
			data: bytes.Clone(buf[:n]),
			end:  err != nil,
			due:  time.Now().Add(l.p.late(d)),
		}
		select {
		case queue <- c:
		case <-l.ctx.Done():
			return
		}
		if c.end {
			return
		}
	}
}

func (l *link) deliver(d Direction, queue <-chan chunk) {
	for {
		select {
		case <-l.ctx.Done():
			return
		case c := <-queue:
			if !l.waitUntil(c.due) {
				return
			}
			l.write(d, c.data)
			if c.end {
				l.finish(d)
				return
			}
		}
	}
}

// waitUntil reports false when the link closed first.
func (l *link) waitUntil(due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// write delivers data, or swallows it when its direction is silent or the reply
// is to be dropped.
func (l *link) write(d Direction, data []byte) {
	if len(data) == 0 {
		return
	}
	l.delivery[d].Lock()
	defer l.delivery[d].Unlock()
	dst := l.conn(1 - d)
	if l.silent[d].Load() || dst == nil {
		l.p.swallowed[d].Add(int64(len(data)))
		return
	}
	if d == Requests {
		l.p.commands.Add(int64(l.commands.feed(data)))
		l.markDrop(data) // before the write, or the reply might overtake the mark
	} else if o := l.drop.Swap(nil); o != nil {
		l.p.swallowed[d].Add(int64(len(data)))
		o.after(l)
		close(o.done)
		return
	}
	n, err := dst.Write(data)
	l.p.forwarded[d].Add(int64(n))
	l.p.swallowed[d].Add(int64(len(data) - n))
	if err != nil && !l.silent[d].Load() { // a cut interrupts a blocked write
		l.close(true)
	}
}

func (l *link) markDrop(request []byte) {
	if o := l.p.drop.Load(); o != nil && o.match(request) && l.p.drop.CompareAndSwap(o, nil) {
		l.drop.Store(o)
	}
}

// finish passes on the end of a connection. A silent direction swallows it, but
// a link that never reached the target has nobody else to keep it open for.
func (l *link) finish(d Direction) {
	if !l.silent[d].Load() || l.conn(Replies) == nil {
		l.close(false)
	}
}

// silence makes direction d swallow from now on. It waits for a delivery in
// progress, which it interrupts, so that nothing passes after it has returned.
func (l *link) silence(d Direction) {
	l.silent[d].Store(true)
	if dst := l.conn(1 - d); dst != nil {
		_ = dst.SetWriteDeadline(time.Unix(1, 0)) // fails only on a closed connection
	}
	l.delivery[d].Lock()
	//lint:ignore SA2001 waiting for the delivery in progress is the purpose
	l.delivery[d].Unlock()
}

// close ends both connections, with a reset if asked, and forgets the link.
func (l *link) close(reset bool) {
	l.cancel()
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		shut(l.client, reset)
		if l.target != nil {
			shut(l.target, reset)
		}
	}
	l.mu.Unlock()
	l.p.mu.Lock()
	delete(l.p.links, l)
	l.p.mu.Unlock()
}

func shut(c net.Conn, reset bool) {
	if tcp, ok := c.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // makes Close send a reset; fails only on a closed connection
	}
	_ = c.Close()
}
