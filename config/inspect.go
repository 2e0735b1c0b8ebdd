package config

import (
	"context"
	"fmt"
	"sync"

	"incumbent/election"
)

// Connect is Open without its look at the servers: nothing is sent before first use, and
// no server is refused. It is for tools that show what is wrong with them. The error is
// for a configuration that is wrong. Close the client.
func (c *Config) Connect() (*Client, error) { return c.connect() }

// Inspect asks every server what it keeps of the named election, as Inspect of a store
// does, and says of those that give no usable answer what only the configuration tells,
// such as a port that speaks TLS. It writes nothing. A few timeouts bound it. The error is
// for a name that is none, or a client that is closed.
func (cl *Client) Inspect(ctx context.Context, name string) (election.State, error) {
	cl.mu.Lock()
	closed := cl.isClosed
	cl.mu.Unlock()
	if closed {
		return election.State{}, fmt.Errorf("election %q: %w", name, election.ErrClientClosed)
	}
	s, err := cl.newStore(name, cl.cfg.Logger, nil)
	if err != nil {
		return election.State{}, err
	}
	st, err := s.Inspect(ctx)
	if err != nil || len(st.Masters) != len(cl.clients) {
		return st, err
	}
	var wg sync.WaitGroup
	for i := range st.Masters {
		if m := &st.Masters[i]; m.Err != nil {
			wg.Go(func() {
				if m.Err = cl.otherwise(ctx, cl.clients[i], m.Name, m.Err); !isSilent(m.Err) {
					m.Err = cl.inform(ctx, cl.clients[i], m.Name, m.Err)
				}
			})
		}
	}
	wg.Wait()
	return st, nil
}

// Listening is how many listen for releases of the named election, at the server that
// counts most: candidates that stand by, and those who observe. It is not known where
// the user may not ask (PUBSUB), and of a Cluster. A few timeouts bound it.
func (cl *Client) Listening(ctx context.Context, name string) (n int, known bool) {
	masters, err := cl.masters(name)
	if err != nil {
		return 0, false
	}
	counts := make([]int, len(masters))
	var wg sync.WaitGroup
	for i, m := range masters {
		wg.Go(func() {
			var err error
			if counts[i], err = m.Listeners(ctx); err != nil {
				counts[i] = -1
			}
		})
	}
	wg.Wait()
	for _, c := range counts {
		n, known = max(n, c), known || c >= 0
	}
	return n, known
}
