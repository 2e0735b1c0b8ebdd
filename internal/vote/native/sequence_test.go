package native_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
	"incumbent/internal/vote"
	"incumbent/internal/vote/native"
)

const (
	leaseKey  = "e:{job}:lease"
	recordKey = "e:{job}:record"
	channel   = "e:{job}:released"
)

// A sequence is what is done, in the same way, to two masters: one answers scripts
// in Lua, the other natively. Every choice is a byte of data, and it ends with them.
type sequence struct {
	t     *testing.T
	data  []byte
	pairs [2]*side
	seen  *tally
}

// A side is one of the two masters, in a world of its own, so that both have the
// same run_id.
type side struct {
	w    *simnet.World
	m    *simnet.Master
	subs []*redis.PubSub
}

// tally counts what sequences have come to.
type tally struct {
	calls, native int
	statuses      map[string]int // natively answered: script and status
}

// play plays a sequence. It must be called in a bubble.
func play(t *testing.T, data []byte, seen *tally) {
	s := &sequence{t: t, data: data, seen: seen}
	for i := range s.pairs {
		w, err := simnet.New(7, simnet.Options{Uptime: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		s.pairs[i] = &side{w: w, m: w.AddMaster("m")}
		defer s.pairs[i].close()
	}
	s.pairs[1].w.SetNative(s.natives())
	s.load()
	for step := 0; len(s.data) > 0 && !t.Failed(); step++ {
		what := s.step()
		if a, b := s.pairs[0].state(), s.pairs[1].state(); a != b {
			t.Errorf("step %d: after %s\nLua left\n%s\nnative code left\n%s\ndata %q", step, what, a, b, data)
		}
	}
}

func (s *side) close() {
	for _, sub := range s.subs {
		_ = sub.Close()
	}
	s.w.Close()
}

// natives are the native scripts; what they answer is counted.
func (s *sequence) natives() map[string]simnet.NativeScript {
	scripts := map[string]simnet.NativeScript{}
	for _, n := range native.Scripts() {
		scripts[n.SHA] = func(d *simnet.Data, keys, argv []string) ([]any, bool) {
			reply, ok := n.Run(d, keys, argv)
			if ok {
				s.seen.native++
				s.seen.statuses[n.Name+" "+reply[0].(string)]++
				if note, noted := reply[len(reply)-1].(string); noted && n.Name == "acquire" {
					s.seen.statuses["acquire "+note]++
				}
			}
			return reply, ok
		}
	}
	return scripts
}

// pick chooses one of n.
func (s *sequence) pick(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

// oneIn is true once in n times.
func (s *sequence) oneIn(n int) bool { return s.pick(n) == n-1 }

func (s *sequence) of(list ...string) string { return list[s.pick(len(list))] }

// both does something to both masters.
func (s *sequence) both(f func(*side)) {
	for _, p := range s.pairs {
		f(p)
	}
}

// do has both execute a command, and compares the replies.
func (s *sequence) do(args ...string) string {
	var replies [2]string
	for i, p := range s.pairs {
		v, err := p.m.Do(args...)
		replies[i] = fmt.Sprintf("%#v, error %v", v, err)
	}
	if replies[0] != replies[1] {
		s.t.Errorf("%q\nLua answers         %s\nnative code answers %s", args, replies[0], replies[1])
	}
	return fmt.Sprintf("%q: %s", args, replies[1])
}

// load loads all scripts, as every restart forgets them.
func (s *sequence) load() {
	for _, script := range vote.Scripts() {
		s.do("SCRIPT", "LOAD", script.Source)
	}
}

// step does one thing, and returns it in words.
func (s *sequence) step() string {
	switch s.pick(16) {
	case 0, 1:
		return s.wait()
	case 2:
		return s.misfortune()
	case 3:
		return s.corrupt()
	default:
		return s.call()
	}
}

// wait lets time pass, or the master's clock be wrong.
func (s *sequence) wait() string {
	switch s.pick(8) {
	case 0:
		d := time.Duration(s.pick(9)-4) * 700 * time.Millisecond
		s.both(func(p *side) { p.m.JumpClock(d) })
		return fmt.Sprintf("jump by %s", d)
	case 1:
		ppm := float64(s.pick(3)-1) * 1e5
		s.both(func(p *side) { p.m.SetDrift(ppm) })
		return fmt.Sprintf("drift of %v ppm", ppm)
	default:
		d := time.Duration(s.pick(200)) * 10 * time.Millisecond
		time.Sleep(d + 123456*time.Nanosecond)
		return fmt.Sprintf("sleep of %s", d)
	}
}

// misfortune is what befalls servers.
func (s *sequence) misfortune() string {
	switch s.pick(9) {
	case 0:
		return s.restarts(1 + s.pick(6))
	case 1:
		s.both(func(p *side) { p.m.Restart(true) })
		s.load()
		return "empty restart"
	case 2:
		s.both(func(p *side) { p.m.Restart(true) })
		return "restart without scripts"
	case 3:
		key := s.of(leaseKey, recordKey)
		s.both(func(p *side) { p.m.Evict(key) })
		return "eviction of " + key
	case 4:
		info := s.info()
		s.both(func(p *side) { p.m.RewriteInfo(info) })
		return "another INFO"
	case 5:
		s.both(func(p *side) {
			p.subs = append(p.subs, p.w.Client("s", p.m, nil).Subscribe(s.t.Context(), channel))
			if _, err := p.subs[len(p.subs)-1].Receive(s.t.Context()); err != nil {
				s.t.Error(err)
			}
		})
		return "a subscription"
	case 6:
		s.load()
		return "loading scripts"
	default:
		s.both(func(p *side) { p.m.FlushAll() })
		return "FLUSHALL"
	}
}

// restarts are several in a row, with a bid and a while after each.
func (s *sequence) restarts(n int) string {
	for range n {
		s.both(func(p *side) { p.m.Restart(false) })
		s.load()
		s.seen.calls++
		s.do("EVALSHA", vote.Scripts()[0].SHA, "2", leaseKey, recordKey, s.value(), "1000", "0", "{}", "604800000", "", "0", "2000", "rfne", "", "a")
		time.Sleep(time.Duration(s.pick(30)) * 100 * time.Millisecond)
	}
	return fmt.Sprintf("%d restarts", n)
}

// info chooses how INFO is changed.
func (s *sequence) info() func(string) string {
	replace := func(old, new string) func(string) string {
		return func(info string) string { return strings.ReplaceAll(info, old, new) }
	}
	return []func(string) string{
		nil, replace("run_id", "x"), replace("uptime_in", "x"), replace("uptime_in_seconds:", "uptime_in_seconds:0"),
		replace("uptime_in_seconds:", "uptime_in_seconds:99999999999999"), replace("run_id:", "run_id:\r\nrun_id:"),
		replace("replid2:0", "replid2:a"), func(string) string { return "" },
	}[s.pick(8)]
}

// corrupt writes what this library does not.
func (s *sequence) corrupt() string {
	field := s.of("last", "token", "holder", "ttl", "until", "fresh_until", "run_id", "init", "guard_id", "guard_until", "arms",
		"asked", "heir", "heir_ms", "heir_until",
		"value", "vote", "ask", "released")
	switch s.pick(10) {
	case 0:
		return s.do("HDEL", recordKey, field)
	case 1:
		s.do("DEL", leaseKey)
		return s.do("RPUSH", leaseKey, "x")
	case 2:
		s.do("DEL", recordKey)
		return s.do("SET", recordKey, "x")
	case 3:
		return s.do("SET", leaseKey, s.value())
	case 4:
		return s.do("PERSIST", s.of(leaseKey, recordKey))
	case 5:
		return s.do("DEL", leaseKey, recordKey)
	case 6:
		return s.do("SET", leaseKey, s.value(), "PX", "1500")
	case 7:
		return s.do("HSET", recordKey, s.of("last", "token", "until", "ttl"), s.hostile())
	default:
		return s.do("HSET", recordKey, field, s.number())
	}
}

// call calls a script.
func (s *sequence) call() string {
	scripts := vote.Scripts()
	script := scripts[s.pick(len(scripts))]
	if script.Name != "acquire" && s.oneIn(3) {
		script = scripts[0]
	}
	keys := []string{leaseKey, recordKey}
	if s.oneIn(60) {
		keys = [][]string{{leaseKey, leaseKey}, {recordKey, leaseKey}, {leaseKey}, {}, {leaseKey, recordKey, "x"}, {"a", "b"}}[s.pick(6)]
	}
	argv := s.argv(script.Name)
	switch {
	case s.oneIn(100):
		argv = argv[:len(argv)-min(len(argv), 1)]
	case s.oneIn(100):
		argv = append(argv, "x")
	}
	args := append([]string{"EVALSHA", script.SHA, strconv.Itoa(len(keys))}, append(keys, argv...)...)
	if s.oneIn(12) {
		args[0], args[1] = "EVAL", script.Source
	}
	s.seen.calls++
	return script.Name + " " + s.do(args...)
}

// argv are the arguments of a script.
func (s *sequence) argv(name string) []string {
	switch name {
	case "acquire":
		return []string{s.value(), s.span(), s.floor(), s.holder(), s.retention(), s.of("", "1"), s.limit(), s.span(), s.guards(), s.of("", "1"), s.id()}
	case "seal":
		return []string{s.value(), s.token(), s.retention()}
	case "renew":
		return []string{s.value(), s.span(), s.token(), s.retention()}
	case "reseat":
		return []string{s.value(), s.span(), s.token(), s.holder(), s.retention(), s.limit(), s.span()}
	case "release":
		return []string{s.value(), s.token(), channel}
	case "init":
		return []string{s.retention()}
	case "ask":
		return []string{s.token(), s.of(`{"token":1}`, "x", ""), s.id(), s.span()}
	}
	return nil
}

func (s *sequence) value() string  { return s.of("a", "b", "b", "a", "a", "c\r\n\x00", "") }
func (s *sequence) holder() string { return s.of("{}", `{"id":"a"}`, "x", "") }

func (s *sequence) id() string { return s.of("a", "b", "a", "") }

// guards are seldom less than all.
func (s *sequence) guards() string { return s.of("rfne", "rfne", "fne", "ne", "", "e", "rn", "?") }

func (s *sequence) span() string {
	if s.oneIn(50) {
		return s.hostile()
	}
	return s.of("1000", "2000", "500", "2000", "1")
}

func (s *sequence) retention() string {
	if s.oneIn(50) {
		return s.hostile()
	}
	return s.of("604800000", "604800000", "60000", "604800000", "900", "604800000", "60000", "0")
}

// limit is a time by the master's clock.
func (s *sequence) limit() string {
	if s.oneIn(50) {
		return s.hostile()
	}
	now := s.pairs[0].m.Now().UnixMilli()
	return s.of("0", "0", strconv.FormatInt(now+500, 10), strconv.FormatInt(now, 10), strconv.FormatInt(now-1, 10))
}

func (s *sequence) floor() string {
	if s.oneIn(50) {
		return s.hostile()
	}
	return s.of("0", "0", "5", s.token())
}

// token is mostly about as large as that of the record.
func (s *sequence) token() string {
	if s.oneIn(50) {
		return s.hostile()
	}
	known, err := strconv.ParseInt(s.pairs[0].m.HGetAll(recordKey)[s.of("token", "token", "last")], 10, 64)
	if err != nil || s.oneIn(20) {
		return s.of("0", "1", "9007199254740990", "9007199254740991")
	}
	return strconv.FormatInt(known+int64(s.pick(4)%3-1), 10)
}

// number is what a field may hold.
func (s *sequence) number() string {
	if s.oneIn(2) {
		return s.hostile()
	}
	now := s.pairs[0].m.Now().UnixMilli()
	return s.of("0", "1", "3", "500", strconv.FormatInt(now+int64(s.pick(100)-50)*100, 10), "9007199254740990", "9007199254740991")
}

// hostile is what looks like a number to some.
func (s *sequence) hostile() string {
	return s.of("0", "-1", "", "x", "1.5", "1e3", "007", " 5", "5 ", "+5", "0x10", "1_000", "nan", "inf", "-0", "9007199254740992",
		"9007199254740993", "1000000000001", "9223372036854775807", "99999999999999999999", "1e400", "\x00", "5\r\n", "010", "010")
}

// state is all that a master stores, and how much it has told subscribers.
func (s *side) state() string {
	var b strings.Builder
	_, heard := s.m.Bytes("s")
	fmt.Fprintf(&b, "%d bytes heard\n", heard)
	for _, key := range s.m.Keys() {
		kind, err := s.m.Do("TYPE", key)
		fmt.Fprintf(&b, "%s %v %v %s ", key, kind, err, s.m.PTTL(key))
		switch kind {
		case "list":
			v, err := s.m.Do("LRANGE", key, "0", "-1")
			fmt.Fprintf(&b, "%q %v\n", v, err)
		default:
			v, _ := s.m.Get(key)
			fmt.Fprintf(&b, "%q %q\n", v, s.m.HGetAll(key))
		}
	}
	return b.String()
}
