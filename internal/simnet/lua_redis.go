package simnet

import (
	"bytes"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// library returns the table that scripts know as redis.
func (e *engine) library() *lua.LTable {
	l := e.state
	t := l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{
		"call":         func(l *lua.LState) int { return e.call(l, true) },
		"pcall":        func(l *lua.LState) int { return e.call(l, false) },
		"error_reply":  errorReply,
		"status_reply": statusReply,
		"sha1hex": func(l *lua.LState) int {
			l.Push(lua.LString(sha1Hex(l.CheckString(1))))
			return 1
		},
		"log":                func(*lua.LState) int { return 0 },
		"set_repl":           func(*lua.LState) int { return 0 },
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
	})
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.RawSetString(name, lua.LNumber(i))
	}
	return t
}

// errorReply makes an error of a text, which is given a code if it has none.
func errorReply(l *lua.LState) int {
	text := strings.TrimPrefix(l.CheckString(1), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	t := l.NewTable()
	t.RawSetString("err", lua.LString(text))
	l.Push(t)
	return 1
}

func statusReply(l *lua.LState) int {
	t := l.NewTable()
	t.RawSetString("ok", lua.LString(l.CheckString(1)))
	l.Push(t)
	return 1
}

// call is redis.call, and redis.pcall if it must not raise errors.
func (e *engine) call(l *lua.LState, raise bool) int {
	args, problem := arguments(l)
	if problem == "" && notInScripts[strings.ToUpper(args[0])] {
		problem = "ERR This Redis command is not allowed from script"
	}
	if problem != "" {
		return e.fail(l, raise, problem)
	}
	e.out.Reset()
	e.master.redis.Server().Dispatch(e.peer, args)
	e.peer.Flush()
	v, rest := e.value(e.out.Bytes())
	if rest == nil {
		return e.fail(l, raise, "ERR simnet: malformed reply to "+args[0])
	}
	if t, ok := v.(*lua.LTable); ok {
		if text := t.RawGetString("err"); text != lua.LNil {
			return e.fail(l, raise, scriptWording(text.String()))
		}
	}
	l.Push(v)
	return 1
}

// arguments returns those of redis.call, or what is wrong with them.
func arguments(l *lua.LState) (args []string, problem string) {
	n := l.GetTop()
	if n == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	args = make([]string, n)
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = strconv.FormatFloat(float64(v), 'g', 17, 64)
			if f := float64(v); f == float64(int64(f)) && f < 1e17 && f > -1e17 {
				args[i] = strconv.FormatInt(int64(f), 10) // what %.17g prints
			}
		default:
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	return args, ""
}

// notInScripts are commands that a server refuses there, or that would block.
var notInScripts = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`EVAL EVALSHA EVAL_RO EVALSHA_RO SCRIPT SUBSCRIBE UNSUBSCRIBE
		PSUBSCRIBE PUNSUBSCRIBE MULTI EXEC DISCARD WATCH UNWATCH AUTH HELLO CLIENT QUIT RESET MONITOR WAIT
		BLPOP BRPOP BRPOPLPUSH BLMOVE BLMPOP BZPOPMIN BZPOPMAX BZMPOP XREADGROUP XREAD`) {
		set[name] = true
	}
	return set
}()

// fail raises an error, or returns it.
func (e *engine) fail(l *lua.LState, raise bool, text string) int {
	t := l.NewTable()
	t.RawSetString("err", lua.LString(text))
	if raise {
		if _, line, ok := strings.Cut(strings.TrimSuffix(l.Where(1), ":"), ":"); ok {
			t.RawSetString("line", lua.LString(line))
		}
		l.Error(t, 0)
	}
	l.Push(t)
	return 1
}

// scriptWording turns an error into what a script is told.
func scriptWording(text string) string {
	switch {
	case strings.HasPrefix(text, "ERR unknown command"):
		return "ERR Unknown Redis command called from script"
	case strings.HasPrefix(text, "ERR wrong number of arguments"):
		return "ERR Wrong number of args calling Redis command from script"
	}
	return text
}

// value makes a Lua value of a reply, and returns what follows it; nil if there
// is no whole reply.
func (e *engine) value(b []byte) (v lua.LValue, rest []byte) {
	end := bytes.IndexByte(b, '\n')
	if end < 2 {
		return lua.LNil, nil
	}
	text, rest := string(b[1:end-1]), b[end+1:]
	switch b[0] {
	case '+', '-':
		t := e.state.NewTable()
		t.RawSetString(map[byte]string{'+': "ok", '-': "err"}[b[0]], lua.LString(text))
		return t, rest
	case ':', '$', '*':
	default:
		return lua.LNil, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return lua.LNil, nil
	case b[0] == ':':
		return lua.LNumber(n), rest
	case n < 0:
		return lua.LFalse, rest
	case b[0] == '$' && len(rest) < n+2:
		return lua.LNil, nil
	case b[0] == '$':
		return lua.LString(rest[:n]), rest[n+2:]
	}
	t := e.state.CreateTable(n, 0)
	for range n {
		if v, rest = e.value(rest); rest == nil {
			return lua.LNil, nil
		}
		t.Append(v)
	}
	return t, rest
}
