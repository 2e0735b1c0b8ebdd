package simnet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/internal/simnet"
)

// scripts are run here and on a real server, which must answer alike.
var scripts = []string{
	// results
	`return 3.99`, `return -3.99`, `return 9007199254740991`, `return {1, 2, nil, 3}`, `return {}`, `return nil`,
	`return {true, false, 'a', {ok='fine'}, {'nested', {2}}}`, `return`, `local a = 1`, `return {err='CODE boom'}`,
	`return redis.error_reply('My Err')`, `return redis.error_reply('-My Err')`, `return redis.error_reply('MyErr')`,
	`return redis.status_reply('hi')`, `return redis.sha1hex('a')`, `return cjson.encode({a=1})`,
	`return cjson.decode('{"a":[1,2]}').a`, `return {KEYS[1], KEYS[2], #ARGV, ARGV[1]}`, `return redis.LOG_WARNING`,
	`return tostring(1796000000000)`, `return tostring(9007199254740991)`, `return tostring(1.5)`, `return tostring(nil)`,
	`return string.format('%.0f', 9007199254740991)`, `return tonumber('12') + '3'`, `return math.floor(7 / 2)`,
	`return string.match('run_id:abc\r\n', 'run_id:(%w+)')`, `return ('a:1 b:22x'):match('b:(%d+)')`, `return ('a:1'):match('b:(%d+)')`,
	`return {string.match('a:-a:b', 'a:(%w+)')}`, `return {string.match('aa1', 'a(%d+)')}`, `return ('aXaY1'):match('a(%d+)')`,
	`return ('x+1'):match('+(%d+)')`, `return ('ab12'):match('(%d+)')`, `return ('k:v'):match('(%w+):(%w+)')`,
	`return ('k:v k:w'):match('k:(%w+)', 2)`, `return string.match(12, '1(%d+)')`, `return string.match('k:_', 'k:(%w+)') == nil`, `return ('x'):rep(3)`, `return math.max(1, '2')`,
	`return {type(redis), type(KEYS), type(redis.call)}`, `return select('#', unpack({1, 2, 3}))`,
	// commands
	`return redis.call('SET', KEYS[1], ARGV[1])`, `return redis.call('GET', KEYS[1])`, `return redis.call('get', 'none')`,
	`return redis.call('SET', 'n', 9007199254740991)`, `return redis.call('GET', 'n')`,
	`return redis.call('SET', 'n', 1.5)`, `return redis.call('GET', 'n')`, `return type(redis.call('GET', 'n'))`,
	`return redis.call('SET', 'n', 1, 'NX')`, `return redis.pcall('SET', 'n', '1').ok`, `return redis.call('INCR', 'n')`,
	`return redis.call('HSET', 'h', 'a', 1, 'b', 2)`, `return redis.call('HMGET', 'h', 'a', 'none', 'b')`,
	`return redis.call('HGETALL', 'none')`, `return redis.call('PTTL', 'none')`, `return redis.call('EXISTS', 'h')`,
	`return redis.call('SET', 'p', 'v', 'PX', 100000)`, `local t = redis.call('PTTL', 'p') return t > 99000 and t <= 100000`,
	`return redis.call('PUBLISH', 'c', 'm')`, `return #redis.call('TIME')`, `return type(redis.call('INFO', 'server'))`,
	`return redis.call('TYPE', 'h')`, `return redis.call('DEL', 'h', 'n', 'none')`, `return redis.call('PING')`,
	`return tonumber(redis.call('TIME')[1]) > 0`,
	// errors
	`return nosuch`, `x = 1`, `error('boom')`, "\n\nerror('boom')", `error({err='CODE boom'})`,
	`return redis.call('NOSUCH')`, `return redis.pcall('NOSUCH')`, `return redis.call('GET')`, `return redis.pcall('GET').err`,
	`redis.call('SET', 's', 'v') return redis.call('HGET', 's', 'f')`, `return redis.pcall('HGET', 's', 'f')`,
	"local a = 1\nlocal b = 2\nreturn redis.call('HGET', 's', 'f')", `return redis.pcall('HGET', 's', 'f').err`,
	`local ok, e = pcall(redis.call, 'HGET', 's', 'f') return {tostring(ok), type(e), e}`,
	`return {pcall(function(a, b) return a + b end, 1, 2)}`, `local ok, e = pcall(error, {x=7}) return e.x`,
	`return {pcall(error, 'boom', 0)}`,
	`return redis.call()`, `return redis.call({})`, `return redis.call(1)`, `return redis.pcall(nil)`,
	`return redis.pcall('SUBSCRIBE', 'c').err`, `return redis.pcall('MULTI').err`, `return redis.pcall('EVAL', 'return 1', 0).err`,
	`return print`, `return type(os)`, `return tostring(dofile)`, `return redis.call('INCR', 's')`,
	`return redis.call('SET', 's', 'v', 'PX', 'soon')`,
}

// outcome is the answer to a command, in words.
func outcome(c *redis.Client, args ...any) string {
	v, err := c.Do(ctx, args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "error " + err.Error()
	}
	return fmt.Sprintf("%T %v", v, v)
}

// both runs commands on a real server and then, in a bubble, on a master, and
// compares the answers.
func both(t *testing.T, commands [][]any) {
	s := redistest.StartT(t, redisproc.Options{})
	real := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2})
	defer real.Close()
	var want []string
	for _, args := range commands {
		want = append(want, outcome(real, args...))
	}
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		c := w.Client("a", w.AddMaster("m"), nil)
		for i, args := range commands {
			if got := outcome(c, args...); got != want[i] {
				t.Errorf("%q\n  is      %s\n  wanted  %s", args, got, want[i])
			}
		}
	})
}

func TestScriptsAnswerLikeRedis(t *testing.T) {
	var commands [][]any
	for _, src := range scripts {
		commands = append(commands, []any{"EVAL", src, 1, "k", "v"})
	}
	both(t, commands)
}

func TestScriptCommandsAnswerLikeRedis(t *testing.T) {
	sha := redis.NewScript("return ARGV[1]").Hash()
	both(t, [][]any{
		{"EVALSHA", sha, 0, "x"},
		{"SCRIPT", "LOAD", "return ARGV[1]"},
		{"EVALSHA", sha, 0, "x"},
		{"EVALSHA", strings.ToUpper(sha), 0, "x"},
		{"SCRIPT", "EXISTS", sha, "none"},
		{"SCRIPT", "FLUSH"},
		{"SCRIPT", "EXISTS", sha},
		{"EVALSHA", sha, 0, "x"},
		{"EVAL", "return ARGV[1]", 0, "y"},
		{"EVALSHA", sha, 0, "x"},
		{"EVAL", "return 1", "x"},
		{"EVAL", "return 1", 2, "a"},
		{"EVAL", "return 1", -1},
		{"EVAL", "return 1"},
		{"EVAL", "error('x')", 0}, // one that fails is kept, too
		{"SCRIPT", "EXISTS", redis.NewScript("error('x')").Hash()},
	})
}

func TestScriptThatDoesNotCompile(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		for _, cmd := range []redis.Cmder{c.ScriptLoad(ctx, "syntax error"), c.Eval(ctx, "syntax error", nil)} {
			if err := fails(t, cmd); !strings.HasPrefix(err.Error(), "ERR Error compiling script") {
				t.Errorf("%v: %v", cmd.Args(), err)
			}
		}
	})
}

func TestScriptInTransaction(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		script := redis.NewScript("return redis.call('SET', KEYS[1], ARGV[1])")
		must(t, script.Eval(ctx, c, []string{"k"}, "1"))
		if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			script.EvalSha(ctx, p, []string{"k"}, "2")
			return nil
		}); err != nil {
			t.Error(err)
		}
		holds(t, m, "k", "2")
	})
}

func TestScriptRunsInTheSelectedDatabase(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		c := w.Client("a", m, func(o *redis.Options) { o.DB = 3 })
		must(t, c.Eval(ctx, "return redis.call('SET', 'k', 'v')", nil))
		holds(t, m, "k", "")
		if v := c.Get(ctx, "k").Val(); v != "v" {
			t.Errorf("GET = %q", v)
		}
	})
}

func TestScriptDoesNotOutliveItsMaster(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
			m := w.AddMaster(name)
			c := w.Client("a", m, nil)
			if err := fails(t, c.EvalSha(ctx, redis.NewScript("return 42").Hash(), nil)); !redis.HasErrorPrefix(err, "NOSCRIPT") {
				t.Errorf("EVALSHA on %s: %v", name, err)
			}
			must(t, c.Eval(ctx, "return 42", nil))
		})
	}
}
