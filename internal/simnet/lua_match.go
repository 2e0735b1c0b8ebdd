package simnet

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// replaceMatch has string.match look for a word behind a label, such as
// "run_id:(%w+)", without the pattern matcher of this Lua, which takes longer over
// an answer of INFO than all the rest of a script. Other patterns are left to it.
func (e *engine) replaceMatch() {
	lib := e.globals.RawGetString("string").(*lua.LTable)
	plain := lib.RawGetString("match")
	lib.RawSetString("match", e.state.NewFunction(func(l *lua.LState) int {
		text, ok := l.Get(1).(lua.LString)
		pattern, ok2 := l.Get(2).(lua.LString)
		if ok && ok2 && l.GetTop() == 2 {
			if label, class, ok := labelled(string(pattern)); ok {
				l.Push(wordBehind(string(text), label, class))
				return 1
			}
		}
		l.Insert(plain, 1)
		l.Call(l.GetTop()-1, lua.MultRet)
		return l.GetTop()
	}))
}

// labelled splits a pattern that is a label and then (%w+) or (%d+).
func labelled(pattern string) (label string, class func(byte) bool, ok bool) {
	switch {
	case strings.HasSuffix(pattern, "(%w+)"):
		class = func(c byte) bool { return isDigit(c) || isLetter(c) }
	case strings.HasSuffix(pattern, "(%d+)"):
		class = isDigit
	default:
		return "", nil, false
	}
	label = pattern[:len(pattern)-len("(%w+)")]
	return label, class, label != "" && !strings.ContainsAny(label, "^$()%.[]*+-?\x00")
}

// wordBehind is the first word behind a label; nil if there is none.
func wordBehind(text, label string, class func(byte) bool) lua.LValue {
	for {
		_, rest, found := strings.Cut(text, label)
		if !found {
			return lua.LNil
		}
		n := 0
		for n < len(rest) && class(rest[n]) {
			n++
		}
		if n > 0 {
			return lua.LString(rest[:n])
		}
		text = text[len(text)-len(rest)-len(label)+1:]
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
