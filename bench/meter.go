package bench

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// A meter reads what one server counted and what the client's connections to it did.
// It asks over a connection of its own, whose traffic it knows and leaves out.
type meter struct {
	client *counter // of the connections that are measured
	own    *counter
	admin  *redis.Client
}

// openMeter connects. Close it.
func openMeter(ctx context.Context, e endpoint, client *counter) (*meter, error) {
	m := &meter{client: client, own: new(counter)}
	e.opts.PoolSize = 1
	m.admin = e.client(m.own)
	if err := m.admin.Ping(ctx).Err(); err != nil { // or the first question came with a handshake
		_ = m.admin.Close()
		return nil, fmt.Errorf("server %s: %w", e.addr(), err)
	}
	return m, nil
}

func (m *meter) close() error { return m.admin.Close() }

// reading is both counts at one moment.
type reading struct{ server, client traffic }

func (r reading) minus(earlier reading) reading {
	return reading{r.server.minus(earlier.server), r.client.minus(earlier.client)}
}

// read asks the server. Nothing may be under way on the connections that are measured.
// When a server answers INFO it has counted the bytes of the question, but neither
// those of the answer nor the question as a command.
func (m *meter) read(ctx context.Context) (reading, error) {
	r := reading{client: m.client.now()}
	own := m.own.now()
	text, err := m.admin.Info(ctx, "all").Result()
	if err != nil {
		return r, fmt.Errorf("server %s: %w", m.admin.Options().Addr, err)
	}
	own.received = m.own.now().received
	r.server, _ = parseInfo(text)
	r.server = r.server.minus(own)
	return r, nil
}

// version asks which server it is.
func (m *meter) version(ctx context.Context) (string, error) {
	text, err := m.admin.Info(ctx, "server").Result()
	_, version := parseInfo(text)
	return version, err
}
