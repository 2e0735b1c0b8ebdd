package vote

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

var errNotKnown = errors.New("a Cluster does not say how many listen")

// Listeners is how many subscriptions to wake-ups this master has. The user needs the
// right to call PUBSUB, which an election does not.
func (m *Master) Listeners(ctx context.Context) (int, error) {
	if _, spread := m.client.(*redis.ClusterClient); spread {
		return 0, errNotKnown // each node counts its own
	}
	var counts map[string]int64
	err := m.do(ctx, "count listeners", func(ctx context.Context) (err error) {
		counts, err = m.client.PubSubNumSub(ctx, m.keys.Channel).Result()
		return err
	})
	return int(counts[m.keys.Channel]), err
}
