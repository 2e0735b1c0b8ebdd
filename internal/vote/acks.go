package vote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// acknowledged are the scripts that count only when replicas have them.
func acknowledged(s Script) bool {
	return s.Name == acquireScript.Name || s.Name == sealScript.Name || s.Name == renewScript.Name || s.Name == reseatScript.Name
}

// send runs a script, and where it must be acknowledged waits for replicas.
func (m *Master) send(ctx context.Context, s Script, args []any) ([]any, error) {
	keys := []string{m.keys.Lease, m.keys.Record}
	if m.ReplicaAcks == 0 || !acknowledged(s) {
		return s.run(ctx, m.client, keys, args...)
	}
	c, err := m.primary(ctx)
	if err != nil {
		return nil, err
	}
	raw, acks, err := s.runAcked(ctx, c, keys, m.ReplicaAcks, args...)
	if err != nil {
		return nil, m.moved(ctx, err)
	}
	if word := fields(raw).text(0); (word == "granted" || word == "sealed" || word == "renewed" || word == "reseated") && acks < m.ReplicaAcks {
		// rare: not-acknowledged
		return nil, &election.MasterError{
			Master: m.Name, Op: s.Name, Kind: election.ErrNotReplicated,
			Err:    fmt.Errorf("%d of %d replicas acknowledged in time", acks, m.ReplicaAcks),
			Remedy: "look at the replicas' links, or ask for fewer acknowledgements",
		}
	}
	return raw, nil
}

// countsReplicas reports whether the client can lead to one server.
func (m *Master) countsReplicas() bool {
	switch m.client.(type) {
	case *redis.Client, *redis.ClusterClient:
		return true
	}
	return false
}

// primary is the client of the one server that keeps the election's keys: WAIT
// counts what its own connection wrote.
func (m *Master) primary(ctx context.Context) (*redis.Client, error) {
	if c, ok := m.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, m.keys.Lease)
	}
	return m.client.(*redis.Client), nil // Options.Set lets nothing else through
}

// moved makes an error of a Cluster's node that does not serve the keys any more
// one that goes away: the client looks again for the one that does.
func (m *Master) moved(ctx context.Context, err error) error {
	c, ok := m.client.(*redis.ClusterClient)
	if kind, _ := kindOf(err); !ok || !errors.Is(kind, election.ErrWrongClient) {
		return err
	}
	c.ReloadState(ctx)
	return &election.MasterError{Master: m.Name, Op: "find the primary", Kind: election.ErrClusterDown, Err: err}
}

// runAcked is run followed by WAIT on the same connection, in one round trip. It
// says how many replicas have all that the connection wrote.
func (s Script) runAcked(ctx context.Context, c *redis.Client, keys []string, n int, args ...any) ([]any, int, error) {
	for _, source := range []string{"", s.Source} {
		pipe := c.Pipeline()
		var script *redis.Cmd
		if source == "" {
			script = pipe.EvalSha(ctx, s.SHA, keys, args...)
		} else {
			script = pipe.Eval(ctx, source, keys, args...)
		}
		wait := pipe.Do(ctx, "WAIT", n, ackTime(ctx).Milliseconds())
		_, _ = pipe.Exec(ctx) // each command has its own error
		raw, err := script.Slice()
		switch {
		case err != nil && source == "" && noScript(err):
			continue
		case err != nil:
			return nil, 0, err
		}
		acks, err := wait.Int()
		return raw, acks, err
	}
	return nil, 0, fmt.Errorf("script %s: not accepted", s.Name)
}

// ackTime is how long the server may wait for replicas: most of what is left, so
// that its answer still comes in time.
func ackTime(ctx context.Context) time.Duration {
	d := time.Second
	if at, ok := ctx.Deadline(); ok {
		d = time.Until(at) * 3 / 4
	}
	return max(d, time.Millisecond) // 0 would mean for ever
}
