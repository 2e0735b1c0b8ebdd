package simnet

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A conn is a connection, seen from the host: a [net.Conn].
type conn struct {
	link    *link
	dialed  *Master // under whose address; see [World.Redirect]
	local   net.Addr
	streams [2]stream
	server  *session // the master's end; nil before it accepted and after it hung up

	opened  chan struct{} // closed when the dial has succeeded or failed
	refused bool
	prompt  bool // see dialPrompt
	direct  bool // replies arrive at once

	change        sync.Cond // something below changed; its lock is the world's
	received      []byte
	read          int // how much of received was read
	closed        bool
	end           bool // the master hung up
	reset         bool
	readDeadline  int64 // 0: none
	writeDeadline int64
	wakeAt        int64 // the earliest scheduled look at the read deadline; 0: none
}

// dial connects to what is reached under the address of dialed. w.mu is held.
func (l *link) dial(ctx context.Context, dialed *Master) (net.Conn, error) {
	w := l.w
	w.await(l.host, place{label: "dial", link: l.index})
	if w.closed {
		return nil, dialed.opError("dial", net.ErrClosed)
	}
	c := l.newConn(dialed)
	c.streams[toMaster].send(&segment{kind: kindOpen, key: hashString(0, "open")})

	w.mu.Unlock()
	var err error
	select {
	case <-c.opened:
	case <-ctx.Done():
		err = context.Cause(ctx)
		// Rounded like any deadline. Another event cannot come in between.
		time.Sleep(time.Duration(c.roundDeadline(w.now()) - w.now()))
	}
	w.mu.Lock()

	w.await(l.host, place{label: "dial", link: l.index})
	switch {
	case w.closed:
		err = net.ErrClosed
	case c.refused:
		err = syscall.ECONNREFUSED
	}
	if err != nil {
		c.close()
		return nil, dialed.opError("dial", err)
	}
	return c, nil
}

// newConn returns a connection that is not yet open.
func (l *link) newConn(dialed *Master) *conn {
	l.ports++
	c := &conn{
		link:   l,
		dialed: dialed,
		local:  &net.TCPAddr{IP: l.host.ip, Port: 10000 + l.ports%50000},
		opened: make(chan struct{}),
	}
	c.change.L = &l.w.mu
	c.streams[toMaster] = stream{conn: c, dir: toMaster}
	c.streams[toHost] = stream{conn: c, dir: toHost}
	l.conns = append(l.conns, c)
	return c
}

// arrive handles a segment from the master.
func (c *conn) arrive(s *segment) {
	switch s.kind {
	case kindOpen:
		close(c.opened)
		if c.closed { // the dial was given up meanwhile
			c.hangUp()
		}
	case kindData:
		if !c.closed {
			c.received = append(c.received, s.data...)
		}
	case kindEnd:
		c.end = true
	case kindReset:
		c.abort()
		c.link.forget(c)
	}
	c.change.Broadcast()
}

// abort breaks the connection as a reset does.
func (c *conn) abort() {
	c.reset = true
	select {
	case <-c.opened:
	default:
		c.refused = true
		close(c.opened)
	}
	c.change.Broadcast()
}

// Read reads what has arrived, or waits for it.
func (c *conn) Read(p []byte) (int, error) {
	w := c.link.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		w.await(c.link.host, place{label: "read", link: c.link.index})
		switch {
		case c.closed:
			return 0, c.dialed.opError("read", net.ErrClosed)
		case c.readDeadline != 0 && w.now() >= c.readDeadline:
			return 0, c.dialed.opError("read", os.ErrDeadlineExceeded)
		case c.read < len(c.received):
			n := copy(p, c.received[c.read:])
			if c.read += n; c.read == len(c.received) {
				c.received, c.read = c.received[:0], 0
			}
			return n, nil
		case c.reset:
			return 0, c.dialed.opError("read", syscall.ECONNRESET)
		case c.end:
			return 0, io.EOF
		}
		c.planWake()
		c.change.Wait()
	}
}

// Write sends p, which never waits for the master, only for a frozen host. A
// write deadline is looked at first: a host that freezes in between sends late.
func (c *conn) Write(p []byte) (int, error) {
	w := c.link.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.writeDeadline != 0 && w.now() >= c.writeDeadline {
		return 0, c.dialed.opError("write", os.ErrDeadlineExceeded)
	}
	data := append([]byte(nil), p...)
	key := digest(data)
	if !c.prompt {
		w.await(c.link.host, place{label: "write", link: c.link.index, key: key})
	}
	switch {
	case c.closed:
		return 0, c.dialed.opError("write", net.ErrClosed)
	case c.reset:
		return 0, c.dialed.opError("write", syscall.EPIPE)
	}
	if c.prompt && c.shakeHands(data) {
		return len(p), nil
	}
	c.streams[toMaster].send(&segment{kind: kindData, data: data, key: key})
	return len(p), nil
}

// digest stands for a request when delays are drawn. It covers the command's name
// but not its arguments, which may hold what differs between runs.
func digest(data []byte) uint64 {
	return hashString(uint64(len(data)), data[:min(len(data), 18)])
}

// Close closes the connection. What was written still travels.
func (c *conn) Close() error {
	w := c.link.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.closed {
		return c.dialed.opError("close", net.ErrClosed)
	}
	c.close()
	return nil
}

func (c *conn) close() {
	c.closed = true
	c.received, c.read = nil, 0
	c.change.Broadcast()
	select {
	case <-c.opened:
		if !c.reset {
			c.hangUp()
		}
	default: // nobody goes on knocking for a socket that is gone
		c.streams[toMaster].held = nil
		c.link.forget(c)
	}
}

func (c *conn) hangUp() {
	c.streams[toMaster].send(&segment{kind: kindEnd, key: hashString(0, "end")})
}

// planWake has the reader woken at its deadline. One look per connection is
// scheduled at a time: when it comes too early, it plans the next.
func (c *conn) planWake() {
	at := c.readDeadline
	if at == 0 || (c.wakeAt != 0 && c.wakeAt <= at) {
		return
	}
	c.wakeAt = at
	c.link.w.schedule(event{at: at, order: c.link.index << 1, conn: c})
}

// wake handles the look at the deadline that was planned for that instant.
func (c *conn) wake(at int64) {
	if c.wakeAt == at {
		c.wakeAt = 0
		c.change.Broadcast()
	}
}

// SetDeadline sets both deadlines; see SetReadDeadline.
func (c *conn) SetDeadline(t time.Time) error {
	return c.setDeadlines(t, true, true)
}

// SetReadDeadline sets the instant from which Read fails, rounded up to one that
// belongs to the link's deadlines.
func (c *conn) SetReadDeadline(t time.Time) error {
	return c.setDeadlines(t, true, false)
}

// SetWriteDeadline is SetReadDeadline for Write.
func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadlines(t, false, true)
}

func (c *conn) setDeadlines(t time.Time, read, write bool) error {
	var ns int64
	if !t.IsZero() {
		ns = c.roundDeadline(t.UnixNano())
	}
	w := c.link.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.closed {
		return c.dialed.opError("set", net.ErrClosed)
	}
	if read && c.readDeadline != ns {
		c.readDeadline = ns
		c.change.Broadcast()
	}
	if write {
		c.writeDeadline = ns
	}
	return nil
}

func (c *conn) roundDeadline(ns int64) int64 {
	return alignUp(ns, c.link.deadlineResidue(), c.link.w.modulus)
}

// LocalAddr returns the host's end.
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address that was dialed.
func (c *conn) RemoteAddr() net.Addr { return c.dialed.addr }

// SyscallConn lets go-redis see whether an idle connection is still good: it
// peeks at the socket before it takes one from its pool.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	w := c.link.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.closed || c.reset || c.end {
		return nil, io.EOF
	}
	if c.read < len(c.received) {
		return nil, c.dialed.opError("peek", syscall.EEXIST)
	}
	return idleSocket{}, nil
}

// idleSocket is a raw connection with nothing to read.
type idleSocket struct{}

func (idleSocket) Control(func(uintptr)) error    { return nil }
func (idleSocket) Read(func(uintptr) bool) error  { return nil }
func (idleSocket) Write(func(uintptr) bool) error { return nil }

func (m *Master) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: m.addr, Err: err}
}
