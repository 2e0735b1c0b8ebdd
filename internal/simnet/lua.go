package simnet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	cjson "github.com/alicebob/miniredis/v2/gopher-json"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// An engine is a Lua state that runs one script after the other, as the one of a
// server does. Scripts leave nothing behind in it: they cannot set globals.
type engine struct {
	state    *lua.LState
	globals  *lua.LTable
	compiled map[string]*lua.LFunction // by sha

	// for one run
	master *Master
	peer   *server.Peer // commands of the script are executed on it
	out    bytes.Buffer // and answered here
}

// engines are passed on between masters and worlds: they are costly to make. A
// sync.Pool would lose them whenever garbage is collected, and more often still
// under the race detector.
var engines struct {
	mu   sync.Mutex
	idle []*engine
}

// maxIdle is how many engines are kept: as many worlds can run at once without
// making new ones. maxCompiled is how many scripts an engine remembers before it
// starts over.
const (
	maxIdle     = 16
	maxCompiled = 500
)

func takeEngine(m *Master) *engine {
	engines.mu.Lock()
	n := len(engines.idle)
	if n == 0 {
		engines.mu.Unlock()
		e := newEngine()
		e.master = m
		return e
	}
	e := engines.idle[n-1]
	engines.idle = engines.idle[:n-1]
	engines.mu.Unlock()
	e.master = m
	return e
}

func (e *engine) giveBack() {
	e.master, e.peer = nil, nil
	engines.mu.Lock()
	defer engines.mu.Unlock()
	if len(engines.idle) < maxIdle {
		engines.idle = append(engines.idle, e)
	}
}

func newEngine() *engine {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	e := &engine{state: l, compiled: map[string]*lua.LFunction{}}
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.BaseLibName, lua.OpenBase},
		{lua.CoroutineLibName, lua.OpenCoroutine},
		{lua.TabLibName, lua.OpenTable},
		{lua.StringLibName, lua.OpenString},
		{lua.MathLibName, lua.OpenMath},
		{"cjson", cjson.Loader},
	} {
		l.Push(l.NewFunction(lib.open))
		l.Push(lua.LString(lib.name))
		l.Call(1, 1)
		if lib.name == "cjson" {
			l.SetGlobal(lib.name, l.Get(-1))
		}
		l.Pop(1)
	}
	e.globals = l.Get(lua.GlobalsIndex).(*lua.LTable)
	e.restrict()
	redis := e.library()
	l.SetGlobal("redis", redis)
	l.SetGlobal("server", redis)
	e.protect()
	return e
}

// restrict removes what a server does not offer, and what would differ from run
// to run.
func (e *engine) restrict() {
	for _, name := range []string{"print", "dofile", "loadfile", "module", "require", "newproxy", "_printregs"} {
		e.globals.RawSetString(name, lua.LNil)
	}
	math := e.globals.RawGetString("math").(*lua.LTable)
	math.RawSetString("random", lua.LNil)
	math.RawSetString("randomseed", lua.LNil)
	e.replacePcall()
	e.replaceMatch()
	plain := e.globals.RawGetString("tostring")
	e.globals.RawSetString("tostring", e.state.NewFunction(func(l *lua.LState) int {
		if n, ok := l.Get(1).(lua.LNumber); ok {
			l.Push(lua.LString(fmt.Sprintf("%.14g", float64(n))))
			return 1
		}
		l.Insert(plain, 1)
		l.Call(l.GetTop()-1, 1)
		return 1
	}))
}

// replacePcall has pcall return the text of an error that redis.call raised, as
// Redis 7.0 does, and not the table that holds it.
func (e *engine) replacePcall() {
	plain := e.globals.RawGetString("pcall")
	e.globals.RawSetString("pcall", e.state.NewFunction(func(l *lua.LState) int {
		l.Insert(plain, 1)
		l.Call(l.GetTop()-1, lua.MultRet)
		if t, ok := l.Get(2).(*lua.LTable); ok && l.Get(1) == lua.LFalse {
			if text := t.RawGetString("err"); text != lua.LNil {
				l.Replace(2, text)
			}
		}
		return l.GetTop()
	}))
}

// protect makes globals read-only, and unknown ones an error.
func (e *engine) protect() {
	l := e.state
	meta := l.NewTable()
	meta.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	}))
	meta.RawSetString("__newindex", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Attempt to modify a readonly table")
		return 0
	}))
	e.globals.Metatable = meta
}

// compile returns the function of a script.
func (e *engine) compile(sha, source string) (*lua.LFunction, error) {
	if f := e.compiled[sha]; f != nil {
		return f, nil
	}
	chunk, err := parse.Parse(strings.NewReader(source), "user_script")
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, "user_script")
	if err != nil {
		return nil, err
	}
	if len(e.compiled) >= maxCompiled {
		clear(e.compiled)
	}
	f := e.state.NewFunctionFromProto(proto)
	e.compiled[sha] = f
	return f, nil
}

// run runs a script and answers p.
func (e *engine) run(p *server.Peer, sha, source string, keys, argv []string) {
	f, err := e.compile(sha, source)
	if err != nil {
		p.WriteError("ERR Error compiling script (new function): " + err.Error())
		return
	}
	e.out.Reset()
	e.peer = server.NewPeer(bufio.NewWriterSize(&e.out, 256))
	e.peer.Ctx = p.Ctx // the database selected, and whether it may do anything
	e.globals.RawSetString("KEYS", e.list(keys))
	e.globals.RawSetString("ARGV", e.list(argv))
	l := e.state
	defer l.SetTop(0)
	l.Push(f)
	if err := l.PCall(0, 1, nil); err != nil {
		p.WriteError(uncaught(err, sha))
		return
	}
	e.reply(p, l.Get(-1))
}

func (e *engine) list(items []string) *lua.LTable {
	t := e.state.CreateTable(len(items), 0)
	for _, s := range items {
		t.Append(lua.LString(s))
	}
	return t
}

// uncaught words an error that ended a script.
func uncaught(err error, sha string) string {
	text, line := "ERR "+err.Error(), "1"
	var api *lua.ApiError
	if errors.As(err, &api) {
		switch o := api.Object.(type) {
		case *lua.LTable:
			text = o.RawGetString("err").String()
			if n := o.RawGetString("line"); n != lua.LNil {
				line = n.String()
			}
		case lua.LString:
			text = "ERR " + string(o)
			if _, rest, ok := strings.Cut(string(o), "user_script:"); ok {
				line, _, _ = strings.Cut(rest, ":")
			}
		}
	}
	return text + " script: " + sha + ", on @user_script:" + line + "."
}

// reply answers p with what the script returned.
func (e *engine) reply(p *server.Peer, v lua.LValue) {
	switch v := v.(type) {
	case lua.LBool:
		if v {
			p.WriteInt(1)
		} else {
			p.WriteNull()
		}
	case lua.LNumber:
		p.WriteInt(int(v))
	case lua.LString:
		p.WriteBulk(string(v))
	case *lua.LTable:
		e.replyTable(p, v)
	default:
		p.WriteNull()
	}
}

func (e *engine) replyTable(p *server.Peer, t *lua.LTable) {
	if s := t.RawGetString("err"); s != lua.LNil {
		p.WriteError(s.String())
		return
	}
	if s := t.RawGetString("ok"); s != lua.LNil {
		p.WriteInline(s.String())
		return
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	p.WriteLen(n)
	for i := range n {
		e.reply(p, t.RawGetInt(i+1))
	}
}
