package vote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

const (
	top     = "9007199254740991" // 2^53 - 1
	topLess = "9007199254740990"
	high    = "9000000000000000"
	above   = "9000000000000001"
)

// states are what a script may find, as commands.
var states = map[string][][]any{
	"empty":                             {},
	"ours":                              {{"SET", "L", "me", "PX", 60000}, {"HSET", "R", "last", high, "token", high, "vote", "", "until", "5", "holder", `{"id":"me"}`, "ttl", "60000", "run_id", "r"}},
	"ours, not sealed":                  {{"SET", "L", "me", "PX", 60000}, {"HSET", "R", "last", "5", "token", high, "vote", "1", "holder", "{}", "ttl", "60000"}},
	"ours, raised by others":            {{"SET", "L", "me", "PX", 60000}, {"HSET", "R", "last", above, "token", high, "vote", "1", "holder", "{}", "ttl", "60000"}},
	"ours, sealed, raised":              {{"SET", "L", "me", "PX", 60000}, {"HSET", "R", "last", above, "token", high, "vote", "", "holder", "{}", "ttl", "60000"}},
	"ours, no record":                   {{"SET", "L", "me", "PX", 60000}},
	"ours, no expiry":                   {{"SET", "L", "me"}, {"HSET", "R", "last", high, "token", high}},
	"theirs":                            {{"SET", "L", "me2", "PX", 60000}, {"HSET", "R", "last", high, "token", high, "holder", `{"id":"me2"}`, "ttl", "9"}},
	"theirs, no record":                 {{"SET", "L", "m", "PX", 60000}},
	"theirs, no expiry":                 {{"SET", "L", "other"}, {"HSET", "R", "last", high}},
	"released":                          {{"HSET", "R", "last", high, "token", high, "until", "0", "released", high, "holder", "{}", "ttl", "9"}},
	"asked":                             {{"SET", "L", "me", "PX", 60000}, {"HSET", "R", "last", high, "token", high, "value", "me", "ask", "{}", "asked", high, "heir", "heir", "heir_ms", "9000"}},
	"asked for any":                     {{"SET", "L", "me", "PX", 60000}, {"HSET", "R", "last", high, "token", high, "ask", "{}", "asked", high, "heir", "", "heir_ms", "9000"}},
	"kept for an heir":                  {{"HSET", "R", "last", high, "token", high, "until", "0", "asked", "", "heir", "heir", "heir_until", top}},
	"kept for us":                       {{"HSET", "R", "last", high, "token", high, "until", "0", "asked", "", "heir", "me", "heir_until", top}},
	"kept for nobody":                   {{"HSET", "R", "last", high, "token", high, "until", "0", "heir", "heir", "heir_until", "5"}},
	"until far ahead":                   {{"HSET", "R", "last", high, "token", high, "until", top}},
	"last is a word":                    {{"HSET", "R", "last", "many", "token", "1"}},
	"last is not a number":              {{"HSET", "R", "last", "nan"}},
	"last is infinite":                  {{"HSET", "R", "last", "inf"}},
	"last is too large":                 {{"HSET", "R", "last", "9007199254740992"}},
	"last is huge":                      {{"HSET", "R", "last", "1e300"}},
	"last is negative":                  {{"HSET", "R", "last", "-1"}},
	"last is empty":                     {{"HSET", "R", "last", ""}},
	"last is a fraction":                {{"HSET", "R", "last", "9000000000000000.5"}},
	"last is the top":                   {{"HSET", "R", "last", top}},
	"last is below the top":             {{"HSET", "R", "last", topLess}},
	"token is a word":                   {{"SET", "L", "me", "PX", 60000}, {"HSET", "R", "last", "5", "token", "x"}},
	"until is a word":                   {{"HSET", "R", "last", "5", "until", "x"}},
	"lease is a list":                   {{"RPUSH", "L", "x"}},
	"record is a string":                {{"SET", "R", "x"}},
	"record is a string, lease is ours": {{"SET", "L", "me", "PX", 60000}, {"SET", "R", "x"}},
}

// calls are the scripts with arguments for the holder "me".
var calls = map[string]struct {
	s    Script
	args []any
}{
	"acquire":               {acquireScript, bid("0", "", "0", "", "1")},
	"vote":                  {acquireScript, bid("0", "1", "0", "", "1")},
	"acquire above":         {acquireScript, bid(above, "", "0", "", "1")},
	"acquire the last":      {acquireScript, bid(topLess, "", "0", "", "1")},
	"acquire above the top": {acquireScript, bid(top, "", "0", "", "1")},
	"acquire, guarded":      {acquireScript, bid("0", "", "0", "ne", "")},
	"vote, guarded":         {acquireScript, bid("0", "1", "0", "ne", "1")},
	"seal":                  {sealScript, []any{"me", high, 7200000}},
	"seal above":            {sealScript, []any{"me", above, 7200000}},
	"renew":                 {renewScript, []any{"me", 30000, high, 7200000}},
	"renew above":           {renewScript, []any{"me", 30000, above, 7200000}},
	"renew the top":         {renewScript, []any{"me", 30000, top, 7200000}},
	"reseat":                {reseatScript, []any{"me", 30000, high, "{}", 7200000, "0", 60000}},
	"reseat above":          {reseatScript, []any{"me", 30000, above, "{}", 7200000, "0", 60000}},
	"release":               {releaseScript, []any{"me", high, "channel"}},
	"undo":                  {releaseScript, []any{"me", "0", "channel"}},
	"inspect":               {inspectScript, nil},
	"init":                  {initScript, []any{7200000}},
	"ask":                   {askScript, []any{high, `{"token":9000000000000000}`, "heir", 5000}},
	"ask another":           {askScript, []any{above, "{}", "", 0}},
}

// bid makes arguments of the acquire script for a lease of a minute.
func bid(floor, seal, limit, guards, assume string) []any {
	return []any{"me", 60000, floor, `{"id":"me"}`, 7200000, seal, limit, 60000, guards, assume, "me"}
}

// Every script in every state: the same reply and the same content afterwards
// from the simulated server and from a real one.
func TestScriptsBehaveAlike(t *testing.T) {
	real := redistest.StartT(t, redisproc.Options{})
	mini := miniredis.RunT(t)
	a, b := plain(t, real.Addr()), plain(t, mini.Addr())
	for state, setup := range states {
		for name, c := range calls {
			got, want := outcomeOf(t, b, setup, c.s, c.args), outcomeOf(t, a, setup, c.s, c.args)
			if got != want {
				t.Errorf("%s, %s:\nsimulated %s\nreal      %s", state, name, got, want)
			}
		}
	}
}

func plain(t *testing.T, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, ContextTimeoutEnabled: true, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// outcomeOf runs a script twice in a state, and describes replies and content.
func outcomeOf(t *testing.T, c *redis.Client, setup [][]any, s Script, args []any) string {
	t.Helper()
	ctx := context.Background()
	if err := c.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range setup {
		if err := c.Do(ctx, cmd...).Err(); err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
	}
	var out strings.Builder
	for range 2 {
		reply, err := s.run(ctx, c, []string{"L", "R"}, args...)
		fmt.Fprintf(&out, "reply %s; ", describe(reply, err))
	}
	lease, err := c.Get(ctx, "L").Result()
	fmt.Fprintf(&out, "lease %q %s for %s; ", lease, kindName(err), about(c.PTTL(ctx, "L").Val()))
	record, err := c.HGetAll(ctx, "R").Result()
	for _, f := range []string{"run_id", "guard_id", "init"} {
		delete(record, f) // the simulated server has no identity here
	}
	var fields []string
	for k, v := range record {
		fields = append(fields, k+"="+number(v))
	}
	slices.Sort(fields)
	fmt.Fprintf(&out, "record %q %s for %s", fields, kindName(err), about(c.PTTL(ctx, "R").Val()))
	return out.String()
}

func describe(reply []any, err error) string {
	if err != nil {
		return "error " + kindName(err)
	}
	parts := make([]string, len(reply))
	for i, v := range reply {
		parts[i] = number(fmt.Sprint(v))
		if i == 4 { // time left
			ms, _ := strconv.Atoi(parts[i])
			parts[i] = about(time.Duration(ms) * time.Millisecond)
		}
	}
	switch {
	case len(parts) == 10:
		parts[8], parts[9] = "", "" // run_id, and that it is hidden
	case parts[0] == "state":
		parts[10], parts[14], parts[15] = "", "", "" // run_id, init, guard_id
	}
	return fmt.Sprintf("%q", parts)
}

func kindName(err error) string {
	if err == nil || errors.Is(err, redis.Nil) {
		return ""
	}
	kind, _ := kindOf(err)
	return kind.Error()
}

// number blurs what is a time of day.
func number(s string) string {
	n, err := strconv.ParseInt(s, 10, 64)
	now := time.Now().UnixMilli()
	if err == nil && n > now-100000 && n < now+100000 {
		return fmt.Sprintf("now%+ds", (n-now+500)/1000/30*30) // by half minutes
	}
	return s
}

// about rounds a time left.
func about(d time.Duration) string {
	if d < 0 {
		return "ever"
	}
	return ((d + 2*time.Second) / (5 * time.Second) * 5 * time.Second).String()
}

// Numbers go through Lua without losing a bit: tokens up to the very top.
func TestTokensAtTheTop(t *testing.T) {
	mini := miniredis.RunT(t)
	c := plain(t, mini.Addr())
	ctx := t.Context()
	for want := int64(1<<53 - 5); want <= 1<<53-1; want++ {
		reply, err := acquireScript.run(ctx, c, []string{"L", "R"}, fmt.Sprint(want), 60000, fmt.Sprint(want-1), "{}", 7200000, "", "0", 60000, "", "", "me")
		if err != nil {
			t.Fatal(err)
		}
		r, err := parse(reply)
		if err != nil || int64(r.Token) != want {
			t.Errorf("token %d, %v; want %d", r.Token, err, want)
		}
		if last := mini.HGet("R", "last"); last != fmt.Sprint(want) {
			t.Errorf("stored %s, want %d", last, want)
		}
		mini.Del("L")
	}
	reply, err := acquireScript.run(ctx, c, []string{"L", "R"}, "x", 60000, "0", "{}", 7200000, "", "0", 60000, "", "", "me")
	if err != nil || reply[0] != "spent" || mini.Exists("L") {
		t.Errorf("above the top: %v, %v; the lease exists: %t", reply, err, mini.Exists("L"))
	}
}

// Scripts name their keys, and nothing but them and the channel.
func TestScriptsDeclareTheirKeys(t *testing.T) {
	for _, s := range Scripts() {
		for line := range strings.Lines(s.Source) {
			code, _, _ := strings.Cut(line, "--")
			for _, verb := range []string{"redis.call(", "redis.pcall("} {
				for _, call := range strings.Split(code, verb)[1:] {
					name, rest, _ := strings.Cut(strings.TrimPrefix(call, "'"), "'")
					switch {
					case name == "TIME" || name == "INFO" || name == "PUBLISH":
					case !strings.HasPrefix(strings.TrimLeft(rest, ", "), "KEYS["):
						t.Errorf("%s: %s is called without a declared key: %s", s.Name, name, strings.TrimSpace(line))
					}
				}
			}
		}
		if n := strings.Count(s.Source, "'TIME'"); n != 1 {
			t.Errorf("%s reads the time %d times", s.Name, n)
		}
	}
}

// What guards cost: one INFO inside acquire, and nothing in what is sent while a
// leader leads. A renewal writes 'until' for them, in the HSET that it has anyway.
func TestGuardsCostOneINFO(t *testing.T) {
	server := redistest.StartT(t, redisproc.Options{})
	c := plain(t, server.Addr())
	ctx := t.Context()
	for _, name := range []string{"acquire", "acquire, guarded", "seal", "renew", "reseat", "release", "init"} {
		if err := c.FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range states["ours, not sealed"] {
			if err := c.Do(ctx, cmd...).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if name == "init" || strings.HasPrefix(name, "acquire") {
			c.Del(ctx, "L")
		}
		if err := c.ConfigResetStat(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := calls[name].s.run(ctx, c, []string{"L", "R"}, calls[name].args...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		stats := c.Info(ctx, "commandstats").Val()
		want := map[string]int{"acquire": 1, "acquire, guarded": 1, "init": 1}[name]
		if got := callsOf(stats, "info"); got != want {
			t.Errorf("%s: INFO was called %d times, want %d", name, got, want)
		}
		if got := callsOf(stats, "hset"); name == "renew" && got != 1 {
			t.Errorf("renew: HSET was called %d times, want once", got)
		}
	}
}

// callsOf reads how often a command was called from INFO commandstats.
func callsOf(stats, command string) int {
	_, rest, ok := strings.Cut(stats, "cmdstat_"+command+":calls=")
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.Atoi(digits)
	return n
}
