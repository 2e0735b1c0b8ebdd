package bench

import (
	"maps"
	"net"
	"sync"
)

// traffic is what went to a server and came from it, from the server's point of view.
type traffic struct {
	received, sent int64            // bytes
	commands       map[string]int64 // by name, in lower case
}

// minus is what came after earlier.
func (t traffic) minus(earlier traffic) traffic {
	d := traffic{t.received - earlier.received, t.sent - earlier.sent, map[string]int64{}}
	for name, n := range t.commands {
		if n -= earlier.commands[name]; n != 0 {
			d.commands[name] = n
		}
	}
	return d
}

// add adds what came on top.
func (t *traffic) add(more traffic) {
	t.received += more.received
	t.sent += more.sent
	if t.commands == nil {
		t.commands = map[string]int64{}
	}
	for name, n := range more.commands {
		t.commands[name] += n
	}
}

// A counter counts the traffic of connections as their client sees it: above TLS, where
// there is any, as a server does too.
type counter struct {
	mu sync.Mutex
	traffic
}

// now is what was counted so far.
func (c *counter) now() traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	return traffic{c.received, c.sent, maps.Clone(c.commands)}
}

// countedConn tells its counter what passes.
type countedConn struct {
	net.Conn
	counter  *counter
	requests requests // written by one goroutine at a time, as every connection is
}

// Write counts what was written, and the requests that begin in it.
func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.counter.mu.Lock()
	defer c.counter.mu.Unlock()
	c.counter.received += int64(n)
	c.requests.read(p[:n], func(name string) {
		if c.counter.commands == nil {
			c.counter.commands = map[string]int64{}
		}
		c.counter.commands[name]++
	})
	return n, err
}

// Read counts what was read.
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.counter.mu.Lock()
	defer c.counter.mu.Unlock()
	c.counter.sent += int64(n)
	return n, err
}
