package fence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// Redis guards keys of a Redis server with a key that holds the highest token
// seen. Every method that takes a token is one script, sent with EVALSHA: it
// compares, then acts, and nothing comes in between. It may be used from many
// goroutines.
//
// Only writes that go through a Redis guard with the same key are compared. The
// server keeps that key no better than others. Written to disk once a second, or
// replicated without waiting, a token can be lost with the acts that came with
// it, and so can one that Raise alone had lifted; a stale act then passes until
// the leader acts again. A server that evicts keys may evict this one, unless its
// policy is noeviction or volatile-*.
//
// It needs Redis 5 or newer, and a user that may run EVALSHA, EVAL, GET and SET
// besides the commands of the acts.
type Redis struct {
	client   redis.UniversalClient
	key      string
	resource string
	sharded  bool // keys of one script must share a slot
}

// NewRedis makes a guard that keeps the highest token in key, as decimal text
// without an expiry; a missing key means that no token is known. Nothing is sent
// before first use, and the client stays the caller's.
//
// client may lead to one server, to a primary behind Sentinel, to a Cluster or a
// Ring. On the last two all keys of an act must share key's slot: give them the
// same hash tag, as in "{billing}:fence" and "{billing}:last". What carries a
// token is sent once, whatever the client's MaxRetries says; a Cluster's
// redirections are followed. A call ends with its context only on a client with
// ContextTimeoutEnabled; on others it may take their ReadTimeout longer.
func NewRedis(client redis.UniversalClient, key string) (*Redis, error) {
	if client == nil {
		return nil, errors.New("fence: NewRedis: no client")
	}
	if key == "" {
		return nil, errors.New("fence: NewRedis: the key of the guard must not be empty")
	}
	r := &Redis{client: client, key: key, resource: fmt.Sprintf("redis key %q", key)}
	switch c := client.(type) {
	case *redis.Client:
		r.resource += " at " + strings.Replace(c.Options().Addr, "FailoverClient", "the primary behind Sentinel", 1)
	case *redis.ClusterClient, *redis.Ring:
		r.sharded = true
	}
	return r, nil
}

// Raise implements Guard. A script that is under way ends before the next one
// starts, so Raise waits for the server's answer only.
func (r *Redis) Raise(ctx context.Context, t election.Token) error {
	_, err := r.act(ctx, "raise", t, raiseScript, nil, nil)
	return err
}

// Set sets key to value, as SET does. ttl is in whole milliseconds; 0 means
// that it does not expire. See Do for errors.
func (r *Redis) Set(ctx context.Context, t election.Token, key string, value any, ttl time.Duration) error {
	if ttl < 0 || ttl%time.Millisecond != 0 {
		return fmt.Errorf("%s: set: ttl = %s: must be 0 or a whole number of milliseconds", r.resource, ttl)
	}
	args := []any{value}
	if ttl > 0 {
		args = append(args, ttl.Milliseconds())
	}
	_, err := r.act(ctx, "set", t, setScript, []string{key}, args)
	return err
}

// HSet sets fields of a hash, given as field, value, field, value, ..., and
// returns how many of them are new. See Do for errors.
func (r *Redis) HSet(ctx context.Context, t election.Token, key string, pairs ...any) (added int64, err error) {
	if len(pairs) == 0 || len(pairs)%2 != 0 {
		return 0, fmt.Errorf("%s: hset: %d arguments: must be pairs of field and value, at least one", r.resource, len(pairs))
	}
	return r.count(ctx, "hset", t, hsetScript, []string{key}, pairs)
}

// Del deletes keys, and returns how many there were. See Do for errors.
func (r *Redis) Del(ctx context.Context, t election.Token, keys ...string) (deleted int64, err error) {
	if len(keys) == 0 {
		return 0, fmt.Errorf("%s: del: no keys", r.resource)
	}
	return r.count(ctx, "del", t, delScript, keys, nil)
}

// Do runs the caller's script under token t, in one piece with the comparison,
// and returns what it returns, in the types of go-redis's Cmd.Result; nil
// where that would be redis.Nil. Declare all keys that it uses. A t higher
// than the one known is remembered before it runs, and stays so if it fails.
//
// The error is a *election.FencedError if a higher token is known,
// ErrInvalidToken for a token that cannot be, or a *RedisError; one of kind
// ErrOutcomeUnknown may mean that it was done. Whether to send it again is the
// caller's decision: Set may be repeated, a script that counts may not. If a
// repeated act is then fenced, the first one may still have been in time.
func (r *Redis) Do(ctx context.Context, t election.Token, script *Script, keys []string, args ...any) (any, error) {
	return r.act(ctx, "do", t, script, keys, args)
}

// Known is the highest token that the server knows; 0 if none. A Cluster client
// that reads from replicas may give an older one.
func (r *Redis) Known(ctx context.Context) (election.Token, error) {
	text, err := r.client.Get(ctx, r.key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, r.failure("known", err)
	}
	t, ok := parseToken(text)
	if !ok {
		return 0, r.foreign("known")
	}
	return t, nil
}

// count is act for scripts that return a number.
func (r *Redis) count(ctx context.Context, op string, t election.Token, s *Script, keys []string, args []any) (int64, error) {
	reply, err := r.act(ctx, op, t, s, keys, args)
	n, _ := reply.(int64)
	return n, err
}

// act sends one script and reads its reply.
func (r *Redis) act(ctx context.Context, op string, t election.Token, s *Script, keys []string, args []any) (any, error) {
	if err := checkValid(r.resource, t); err != nil {
		return nil, err
	}
	if err := r.checkKeys(op, keys); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %s: nothing was sent: %w", r.resource, op, context.Cause(ctx))
	}
	keys = slices.Concat([]string{r.key}, keys)
	args = slices.Concat([]any{uint64(t)}, args)
	reply, err := s.run(ctx, r.client, keys, args)
	if err != nil {
		return nil, r.failure(op, err)
	}
	return r.read(op, t, reply)
}

const slotRemedy = "give all keys of the act, and the guard's, the same {hash tag}"

// checkKeys refuses what would damage the guard, or could not be one script.
func (r *Redis) checkKeys(op string, keys []string) error {
	for _, key := range keys {
		if key == r.key {
			return fmt.Errorf("%s: %s: the guard's own key cannot be a key of an act", r.resource, op)
		}
		if mine, its := slot(r.key), slot(key); r.sharded && mine != its {
			return &RedisError{
				Resource: r.resource, Op: op, Kind: election.ErrCrossSlot, Remedy: slotRemedy,
				Err: fmt.Errorf("key %q is in slot %d, the guard in slot %d; nothing was sent", key, its, mine),
			}
		}
	}
	return nil
}

// read takes the answer of redis_guard.lua apart.
func (r *Redis) read(op string, t election.Token, reply any) (any, error) {
	list, _ := reply.([]any)
	list = append(list, nil, nil) // Redis cuts a list at its first nil
	text, _ := list[1].(string)
	switch list[0] {
	case "done":
		return list[1], nil
	case "fenced":
		known, _ := parseToken(text)
		return nil, &election.FencedError{Resource: r.resource, Token: t, Known: known}
	case "foreign":
		return nil, r.foreign(op)
	case "failed":
		return nil, &RedisError{Resource: r.resource, Op: op, Kind: ErrScript, Err: scriptReply(text)}
	}
	return nil, &RedisError{
		Resource: r.resource, Op: op, Kind: ErrOutcomeUnknown,
		Err: fmt.Errorf("a reply of type %T that no script of ours gives", reply),
	}
}

func (r *Redis) foreign(op string) error {
	return &RedisError{
		Resource: r.resource, Op: op, Kind: election.ErrForeignKey,
		Err: errors.New("it holds no token: not a decimal number from 1 to 2^53 - 1"), Remedy: foreignRemedy,
	}
}

// parseToken reads a token the one way it is written: decimal, without sign or
// leading zeros.
func parseToken(s string) (election.Token, bool) {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return election.Token(n), err == nil && election.Token(n) <= election.MaxToken
}
