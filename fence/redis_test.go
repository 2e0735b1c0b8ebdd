package fence_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/fence"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

const guardKey = "{jobs}:fence"

// eachRedis runs a test on a simulated server and on a real one.
func eachRedis(t *testing.T, f func(t *testing.T, c *redis.Client)) {
	t.Run("simulated", func(t *testing.T) { f(t, connect(t, miniredis.RunT(t).Addr())) })
	t.Run("real", func(t *testing.T) { f(t, connect(t, redistest.StartT(t, redisproc.Options{}).Addr())) })
}

// connect makes a client with go-redis's own defaults, unless changed.
func connect(t *testing.T, addr string, change ...func(*redis.Options)) *redis.Client {
	o := &redis.Options{Addr: addr}
	for _, f := range change {
		f(o)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func newRedis(t *testing.T, c redis.UniversalClient) *fence.Redis {
	t.Helper()
	g, err := fence.NewRedis(c, guardKey)
	check(t, err)
	return g
}

// wantRedis fails the test unless err is a RedisError of that kind.
func wantRedis(t *testing.T, err, kind error) *fence.RedisError {
	t.Helper()
	wantNotFenced(t, err)
	var e *fence.RedisError
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("got %v, want kind %q", err, kind)
	}
	if e.Op == "" || e.Err == nil || !strings.Contains(err.Error(), guardKey) {
		t.Errorf("got %+v, want resource, operation and cause", *e)
	}
	return e
}

func redisResource(t *testing.T, c *redis.Client) resource {
	g := newRedis(t, c)
	return resource{
		guard: g,
		write: func(ctx context.Context, token election.Token, v string) error {
			return g.Set(ctx, token, "{jobs}:value", v, 0)
		},
		read: func() string { return c.Get(t.Context(), "{jobs}:value").Val() },
	}
}

func TestRedisGap(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) { testGap(t, redisResource(t, c)) })
}

func TestRedisInvalidToken(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) { testInvalid(t, redisResource(t, c)) })
}

func TestNewRedisRefuses(t *testing.T) {
	c := connect(t, "127.0.0.1:1")
	for _, tt := range []struct {
		client redis.UniversalClient
		key    string
	}{{nil, "k"}, {c, ""}} {
		if g, err := fence.NewRedis(tt.client, tt.key); err == nil || g != nil {
			t.Errorf("NewRedis(%v, %q) = %v, %v", tt.client, tt.key, g, err)
		}
	}
}

func TestRedisCommands(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		ctx, g := t.Context(), newRedis(t, c)
		check(t, g.Set(ctx, 5, "a", "x", 1500*time.Millisecond))
		if v, ttl := c.Get(ctx, "a").Val(), c.PTTL(ctx, "a").Val(); v != "x" || ttl <= 0 || ttl > 1500*time.Millisecond {
			t.Errorf("Set: %q for %s", v, ttl)
		}
		check(t, g.Set(ctx, 5, "a", 7, 0))
		if v, ttl := c.Get(ctx, "a").Val(), c.TTL(ctx, "a").Val(); v != "7" || ttl != -1 {
			t.Errorf("Set: %q for %s", v, ttl)
		}
		n, err := g.HSet(ctx, 5, "h", "one", 1, "two", []byte("2"))
		if err != nil || n != 2 || c.HGet(ctx, "h", "two").Val() != "2" {
			t.Errorf("HSet = %d, %v", n, err)
		}
		n, err = g.HSet(ctx, 5, "h", "two", 3, "three", 3)
		if err != nil || n != 1 || c.HGet(ctx, "h", "two").Val() != "3" {
			t.Errorf("HSet again = %d, %v", n, err)
		}
		n, err = g.Del(ctx, 5, "a", "h", "missing")
		if err != nil || n != 2 || c.Exists(ctx, "a", "h").Val() != 0 {
			t.Errorf("Del = %d, %v", n, err)
		}
		check(t, g.Raise(ctx, 6))
		_, errH := g.HSet(ctx, 5, "h", "f", "v")
		_, errD := g.Del(ctx, 5, "h")
		for _, err := range []error{g.Set(ctx, 5, "a", "x", 0), errH, errD} {
			wantFenced(t, err, 5, 6)
		}
		if known, err := g.Known(ctx); err != nil || known != 6 || c.TTL(ctx, guardKey).Val() != -1 {
			t.Errorf("Known = %d, %v, expiry %s", known, err, c.TTL(ctx, guardKey).Val())
		}
	})
}

func TestRedisLargeActs(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		g, many := newRedis(t, c), 9001
		var pairs []any
		var keys []string
		for i := range many {
			pairs = append(pairs, fmt.Sprint("f", i), i)
			keys = append(keys, fmt.Sprint("k", i))
		}
		if n, err := g.HSet(t.Context(), 5, "h", pairs...); err != nil || n != int64(many) {
			t.Fatalf("HSet = %d, %v", n, err)
		}
		if got := c.HGet(t.Context(), "h", "f9000").Val(); got != "9000" {
			t.Errorf("the last field is %q", got)
		}
		check(t, c.MSet(t.Context(), "k0", 1, "k9000", 1).Err())
		if n, err := g.Del(t.Context(), 5, keys...); err != nil || n != 2 {
			t.Errorf("Del = %d, %v", n, err)
		}
	})
}

func TestRedisArguments(t *testing.T) {
	c := connect(t, "127.0.0.1:1") // nothing of this is sent
	g := newRedis(t, c)
	for name, call := range map[string]func() error{
		"ttl below 0":     func() error { return g.Set(t.Context(), 5, "a", "x", -1*time.Second) },
		"ttl below 1ms":   func() error { return g.Set(t.Context(), 5, "a", "x", time.Microsecond) },
		"no pairs":        func() error { _, err := g.HSet(t.Context(), 5, "h"); return err },
		"half a pair":     func() error { _, err := g.HSet(t.Context(), 5, "h", "f"); return err },
		"no keys":         func() error { _, err := g.Del(t.Context(), 5); return err },
		"the guard's key": func() error { return g.Set(t.Context(), 5, guardKey, "9", 0) },
		"delete guard":    func() error { _, err := g.Del(t.Context(), 5, "a", guardKey); return err },
	} {
		err := call()
		if wantNotFenced(t, err); errors.Is(err, fence.ErrOutcomeUnknown) {
			t.Errorf("%s was sent: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Raise(ctx, 5); !errors.Is(err, context.Canceled) || errors.Is(err, fence.ErrOutcomeUnknown) {
		t.Errorf("with a context that ended: %v", err)
	}
	check(t, c.Close())
	wantRedis(t, g.Raise(t.Context(), 5), election.ErrClientClosed)
}

func TestRedisForeignContent(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		g := newRedis(t, c)
		for _, text := range []string{
			"", "0", "-1", "+5", "05", "5.0", "5e3", " 5", "5 ", "5\n", "5\x00", "nan", "inf", "0x5", "word",
			"9007199254740992", "9007199254740993", "10000000000000000", "99999999999999999999",
		} {
			check(t, c.Set(t.Context(), guardKey, text, 0).Err())
			testForeign(t, g)
			if got := c.Get(t.Context(), guardKey).Val(); got != text {
				t.Errorf("%q was overwritten by %q", text, got)
			}
		}
		check(t, c.Del(t.Context(), guardKey).Err())
		check(t, c.RPush(t.Context(), guardKey, "5").Err())
		testForeign(t, g)
		check(t, c.Del(t.Context(), guardKey).Err())
		check(t, g.Raise(t.Context(), 5))
	})
}

func testForeign(t *testing.T, g *fence.Redis) {
	t.Helper()
	_, known := g.Known(t.Context())
	for _, err := range []error{g.Raise(t.Context(), election.MaxToken), g.Set(t.Context(), 5, "{jobs}:a", "x", 0), known} {
		if e := wantRedis(t, err, election.ErrForeignKey); e.Remedy == "" {
			t.Errorf("no remedy: %v", err)
		}
	}
}

// Neighbours that only exact arithmetic tells apart.
func TestRedisComparesExactly(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		g, top := newRedis(t, c), election.MaxToken
		for _, token := range []election.Token{1, 9, 10, 99, 100, 1 << 31, 1 << 32, top - 2, top - 1, top} {
			check(t, g.Raise(t.Context(), token))
			check(t, g.Raise(t.Context(), token))
			if token > 1 {
				wantFenced(t, g.Raise(t.Context(), token-1), token-1, token)
			}
			if known, err := g.Known(t.Context()); err != nil || known != token {
				t.Errorf("Known = %d, %v, want %d", known, err, token)
			}
		}
	})
}

// What a script returns comes back as without a guard.
func TestRedisScriptReplies(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		g := newRedis(t, c)
		check(t, c.Set(t.Context(), "s", "text", 0).Err())
		for _, source := range []string{
			``, `return`, `return nil`, `return false`, `return true`, `return 7`, `return 7.9`, `return -1`, `return ''`,
			`return 'text'`, `return {}`, `return {1, 2, {3, 'four'}}`, `return {1, nil, 3}`, `return {false, 1}`,
			`return redis.status_reply('FINE')`, `return {ok='FINE'}`, `return redis.call('GET', KEYS[1])`,
			`return redis.call('GET', 'missing')`, `return redis.call('SET', KEYS[1], 'text')`, `return 1 -- comment`,
			`return {#KEYS, #ARGV, KEYS[1], ARGV[1], ARGV[2]}`, `return {'fenced', '9'}`, `return {'foreign'}`,
			"local x = 1\nif x == 1 then\n  return 'early'\nend\nreturn 'late'",
			`local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end return fact(5)`,
			`return {'', 'failed'}`, `return 1, 2`,
		} {
			want, wantErr := c.Eval(t.Context(), source, []string{"s"}, "one", 2).Result()
			if errors.Is(wantErr, redis.Nil) {
				want, wantErr = nil, nil
			}
			got, err := g.Do(t.Context(), 5, fence.NewScript(source), []string{"s"}, "one", 2)
			if err != nil || wantErr != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s\ngives %#v, %v\nwant  %#v, %v", source, got, err, want, wantErr)
			}
		}
	})
}

// A script that fails is an error, and no fence, whatever it says.
func TestRedisScriptErrors(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		ctx, g := t.Context(), newRedis(t, c)
		check(t, c.RPush(ctx, "list", "x").Err())
		for _, tt := range []struct{ source, want string }{
			{`error('boom')`, "boom"},
			{`error({err='MINE boom'})`, "MINE boom"},
			{`error({})`, "table"},
			{`error(nil)`, "nil"},
			{`return known`, "'known'"}, // the guard's names are not in its sight
			{`return redis.error_reply('MINE boom')`, "MINE boom"},
			{`return {err='MINE boom'}`, "MINE boom"},
			{`return redis.call('INCR', KEYS[1])`, "WRONGTYPE"},
			{`return redis.pcall('INCR', KEYS[1])`, "WRONGTYPE"},
			{`return redis.call('NO-SUCH-COMMAND')`, "nknown"},
			{`return redis.error_reply('NOSCRIPT not really')`, "NOSCRIPT"},
			{`error('NOSCRIPT not really')`, "NOSCRIPT"},
			{`return redis.error_reply('READONLY not really')`, "READONLY"},
			{`return redis.error_reply('LOADING not really')`, "LOADING"},
			{`return redis.error_reply('fenced 9')`, "fenced 9"},
			{`return nothing.at_all`, "nothing"},
		} {
			check(t, c.Del(ctx, "count").Err())
			s := fence.NewScript("redis.call('INCR', KEYS[2]) " + tt.source)
			_, err := g.Do(ctx, 5, s, []string{"list", "count"})
			e := wantRedis(t, err, fence.ErrScript)
			var answer redis.Error
			if !errors.As(err, &answer) || !strings.Contains(answer.Error(), tt.want) || e.Op != "do" {
				t.Errorf("%s: %v, want %q", tt.source, err, tt.want)
			}
			if n := c.Get(ctx, "count").Val(); n != "1" {
				t.Errorf("%s ran %s times", tt.source, n)
			}
		}
		_, err := g.HSet(ctx, 5, "list", "f", "v")
		if wantRedis(t, err, fence.ErrScript); !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("HSet of a list: %v", err)
		}
		_, err = g.Do(ctx, 5, fence.NewScript("return redis.error_reply('MINE boom')"), nil)
		if !redis.HasErrorPrefix(err, "MINE") {
			t.Errorf("%v: its code is not found", err)
		}
	})
}

// A token is remembered also when its act failed; and a script of a stale one
// never runs.
func TestRedisScriptsAreFenced(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		ctx, g := t.Context(), newRedis(t, c)
		_, err := g.Do(ctx, 6, fence.NewScript(`error('boom')`), nil)
		wantRedis(t, err, fence.ErrScript)
		incr := fence.NewScript(`return redis.call('INCR', KEYS[1])`)
		_, err = g.Do(ctx, 5, incr, []string{"n"})
		wantFenced(t, err, 5, 6)
		for want := range int64(3) {
			n, err := g.Do(ctx, 6, incr, []string{"n"})
			if err != nil || n != want+1 {
				t.Errorf("Do = %v, %v, want %d", n, err, want+1)
			}
		}
	})
}

func TestRedisAfterScriptFlush(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		ctx, g := t.Context(), newRedis(t, c)
		incr := fence.NewScript(`return redis.call('INCR', KEYS[1])`)
		for want := range int64(3) {
			check(t, c.ScriptFlush(ctx).Err())
			if n, err := g.Do(ctx, 5, incr, []string{"n"}); err != nil || n != want+1 {
				t.Errorf("Do = %v, %v, want %d", n, err, want+1)
			}
		}
	})
}

// wrapping is a provider, or a proxy, that puts its own words before errors.
type wrapping struct{ sent []string }

type wrappedError string

func (e wrappedError) Error() string { return string(e) }
func (e wrappedError) RedisError()   {}

func (w *wrapping) DialHook(next redis.DialHook) redis.DialHook { return next }

func (w *wrapping) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (w *wrapping) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			w.sent = append(w.sent, cmd.Name())
		}
		err := next(ctx, cmd)
		var answer redis.Error
		if errors.As(err, &answer) && !errors.Is(err, redis.Nil) {
			err = wrappedError("ERR (error) " + answer.Error())
			cmd.SetErr(err)
		}
		return err
	}
}

func TestRedisNoScriptWithAPrefix(t *testing.T) {
	eachRedis(t, func(t *testing.T, c *redis.Client) {
		w := &wrapping{}
		c.AddHook(w)
		g := newRedis(t, c)
		check(t, g.Raise(t.Context(), 5))
		check(t, g.Raise(t.Context(), 6))
		if got := strings.Join(w.sent, " "); got != "evalsha eval evalsha" {
			t.Errorf("sent %s", got)
		}
	})
}

func TestSlot(t *testing.T) {
	for key, want := range map[string]int{
		"123456789": 0x31C3, "foo": 12182, "": 0, "{user1000}.following": fence.Slot("user1000"),
		"foo{}{bar}": fence.Slot("foo{}{bar}"), "foo{{bar}}zap": fence.Slot("{bar"), "foo{bar}{zap}": fence.Slot("bar"),
	} {
		if got := fence.Slot(key); got != want {
			t.Errorf("slot(%q) = %d, want %d", key, got, want)
		}
	}
	if fence.Slot("foo{}{bar}") == fence.Slot("bar") {
		t.Error("an empty tag is no tag")
	}
}

// On clients that choose a server by the key, keys of other slots are refused
// before anything is sent: nothing listens where these clients lead.
func TestRedisRefusesOtherSlots(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": "127.0.0.1:1"}, HeartbeatFrequency: time.Hour})
	for _, c := range []redis.UniversalClient{cluster, ring} {
		defer c.Close()
		g := newRedis(t, c)
		for _, keys := range [][]string{{"value"}, {"{jobs}:a", "{other}:b"}} {
			_, err := g.Del(t.Context(), 5, keys...)
			e := wantRedis(t, err, election.ErrCrossSlot)
			if other := keys[len(keys)-1]; !strings.Contains(err.Error(), other) || e.Remedy == "" {
				t.Errorf("got %v, want the key %q and a remedy", err, other)
			}
		}
	}
}
