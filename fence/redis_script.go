package fence

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1
	_ "embed"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed redis_guard.lua
var guardSource string

// A Script is an act in Lua, together with the check of the token that comes
// before it. Make it once, and use it with any Redis guard.
type Script struct{ source, sha string }

// NewScript makes an act of Lua source, which sees KEYS and ARGV as Redis
// passes them to EVAL: its own only, neither the guard's key nor the token. It
// stands in the body of a function that runs if the token is not refused. A
// first line of the form #!lua flags=... stays the first line. Lines keep their
// numbers in error messages. Nothing is checked here: source that does not
// compile shows when it is sent.
func NewScript(source string) *Script {
	first := ""
	if strings.HasPrefix(source, "#!") {
		line, rest, _ := strings.Cut(source, "\n")
		first, source = line+"\n", rest
	}
	s := first + "local act = function(KEYS, ARGV) " + source + "\nend\n" + guardSource
	sum := sha1.Sum([]byte(s)) //nolint:gosec // see above
	return &Script{s, hex.EncodeToString(sum[:])}
}

// run calls EVALSHA, and EVAL when the server does not know the script: it has
// then not run. Some providers wrap that error, so the word is looked for
// anywhere in the answer; the act's own errors do not come this way.
func (s *Script) run(ctx context.Context, c redis.UniversalClient, keys []string, args []any) (any, error) {
	reply, err := send(ctx, c, "evalsha", s.sha, keys, args)
	var answer redis.Error
	if errors.As(err, &answer) && strings.Contains(answer.Error(), "NOSCRIPT") {
		reply, err = send(ctx, c, "eval", s.source, keys, args)
	}
	return reply, err
}

// once is a command that go-redis does not repeat by itself when its answer is
// lost: an act that counts must not happen twice for one call.
type once struct{ *redis.Cmd }

// NoRetry overrides what redis.Cmd says.
func (once) NoRetry() bool { return true }

func send(ctx context.Context, c redis.UniversalClient, name, script string, keys []string, args []any) (any, error) {
	all := []any{name, script, len(keys)}
	for _, key := range keys {
		all = append(all, key)
	}
	cmd := once{redis.NewCmd(ctx, append(all, args...)...)}
	cmd.SetFirstKeyPos(3)   // the guard's key chooses the server
	_ = c.Process(ctx, cmd) // it is the command's error, too
	return cmd.Result()
}

// The acts of Redis's own methods. HSET and DEL come in portions, since Lua's
// stack is bounded.
var (
	raiseScript = NewScript(``)
	setScript   = NewScript(`if ARGV[2] then
  return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return redis.call('SET', KEYS[1], ARGV[1])`)
	hsetScript = NewScript(`local n = 0
for i = 1, #ARGV, 1000 do
  n = n + redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
return n`)
	delScript = NewScript(`local n = 0
for i = 1, #KEYS, 1000 do
  n = n + redis.call('DEL', unpack(KEYS, i, math.min(i + 999, #KEYS)))
end
return n`)
)
