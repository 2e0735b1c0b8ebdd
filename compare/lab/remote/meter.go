package remote

import (
	"context"
	"net"
	"sync/atomic"
)

// meter counts what passes on the connections that it made, beneath TLS.
type meter struct {
	requests, sent, received atomic.Int64 // a request is one write
}

// dial is a config.Config's Dialer.
func (m *meter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &metered{c, m}, nil
}

// reading is what a meter shows.
type reading struct{ requests, sent, received int64 }

func (m *meter) read() reading {
	return reading{m.requests.Load(), m.sent.Load(), m.received.Load()}
}

// since is what was counted after that reading.
func (r reading) since(before reading) reading {
	return reading{r.requests - before.requests, r.sent - before.sent, r.received - before.received}
}

// metered is a connection that is counted.
type metered struct {
	net.Conn
	m *meter
}

// Read implements net.Conn.
func (c *metered) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.m.received.Add(int64(n))
	return n, err
}

// Write implements net.Conn.
func (c *metered) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.m.requests.Add(1)
	c.m.sent.Add(int64(n))
	return n, err
}
