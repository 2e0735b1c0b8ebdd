package simnet

import (
	"context"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// go-redis' PubSub dials, shakes hands and writes while it holds a mutex, which
// its Close wants too. In a bubble, a goroutine that waits for a mutex stops the
// clock, so that the dial would never end. Connections of a PubSub are therefore
// prompt: dial and handshake take no time, or fail at once where they would have
// hung, and a write never waits at the gate of a frozen host.

// dialPrompt is dial for a PubSub. w.mu is held.
func (l *link) dialPrompt(ctx context.Context, dialed *Master) (net.Conn, error) {
	w, m := l.w, l.master
	err := ctx.Err()
	switch {
	case err != nil:
	case w.closed:
		err = net.ErrClosed
	case l.host.frozen, m.stopped(), !l.passable(toMaster), !l.passable(toHost):
		err = os.ErrDeadlineExceeded
	case !m.up:
		err = syscall.ECONNREFUSED
	}
	if err != nil {
		l.slowDown()
		return nil, dialed.opError("dial", err)
	}
	c := l.newConn(dialed)
	c.prompt = true
	c.server = newSession(c)
	close(c.opened)
	return c, nil
}

// promptFailures is how many dials of a link may fail in one instant. go-redis
// itself makes three when a connection breaks.
const promptFailures = 20

// slowDown lets time pass when too many dials have failed in this instant: a loop
// that never pauses would otherwise never see the next.
func (l *link) slowDown() {
	now := l.w.now()
	if l.failed != now {
		l.failed, l.failures = now, 0
	}
	l.failures++
	if l.failures < promptFailures || l.w.closed {
		return
	}
	pause := alignUp(now+int64(l.latency.Min), l.deadlineResidue(), l.w.modulus) - now
	l.w.mu.Unlock()
	time.Sleep(time.Duration(pause))
	l.w.mu.Lock()
}

// shakeHands executes what a prompt connection sends before it subscribes, and
// reports whether it was that.
func (c *conn) shakeHands(data []byte) bool {
	m := c.link.master
	args, _, err := parseCommand(data)
	if err != nil || len(args) == 0 || !setsUp(strings.ToUpper(args[0])) || c.server == nil || m.stopped() {
		return false
	}
	c.direct = true
	m.handle(c, &segment{stream: &c.streams[toMaster], kind: kindData, data: data})
	c.direct = false
	c.link.w.schedule(event{at: c.link.w.now()}) // has the tracer called
	return true
}

// setsUp reports whether a command belongs to setting up a connection.
func setsUp(command string) bool {
	switch command {
	case "HELLO", "AUTH", "SELECT", "CLIENT":
		return true
	}
	return false
}

// fromPubSub reports whether a PubSub of go-redis is dialing.
func fromPubSub() bool {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "internal/pool.(*PubSubPool).NewConn") {
			return true
		}
		if !more {
			return false
		}
	}
}
