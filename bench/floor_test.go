package bench_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
)

const handWritten = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`

// floorRenewal times a hand-written renewal.
func floorRenewal(b *testing.B, c *redis.Client) {
	ctx := context.Background()
	key := prefix + ":{floor}:lease"
	sha, err := c.ScriptLoad(ctx, handWritten).Result()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Set(ctx, key, "mine", ttl).Err(); err != nil {
		b.Fatal(err)
	}
	defer c.Del(ctx, key)
	b.ReportAllocs()
	for b.Loop() {
		n, err := c.EvalSha(ctx, sha, []string{key}, "mine", ttl.Milliseconds()).Int()
		if err != nil || n != 1 {
			b.Fatalf("renewed %d, %v", n, err)
		}
	}
}
