package simnet

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
)

// Scripts run here and not in miniredis, which makes a new Lua state for each
// run: that takes ten times as long as all the rest of a command. And errors read
// as those of a real server. Within MULTI it is still miniredis that runs them; and
// some are answered in Go, see native.go.

// evalSession is evalCommand for a client.
func (m *Master) evalSession(ses *session, cmd string, args []string) bool {
	if ses.multi {
		m.teach()
		return false
	}
	return m.evalCommand(ses.peer, cmd, args)
}

// evalCommand handles EVAL, EVALSHA and SCRIPT, and reports whether it answered.
func (m *Master) evalCommand(p *server.Peer, cmd string, args []string) bool {
	switch {
	case cmd == "SCRIPT":
		return m.scriptCommand(p, args)
	case len(args) < 2:
		return false
	case cmd == "EVAL":
		sha := nameOf(args[0])
		if _, ok := m.scripts[sha]; !ok && !m.load(p, sha, args[0]) {
			return true
		}
		m.eval(p, sha, args[1:])
		return true
	case cmd == "EVALSHA":
		sha := strings.ToLower(args[0])
		if _, ok := m.scripts[sha]; !ok {
			return false // which answers NOSCRIPT
		}
		m.eval(p, sha, args[1:])
		return true
	}
	return false
}

// scriptCommand keeps track of what is loaded and forgotten.
func (m *Master) scriptCommand(p *server.Peer, args []string) bool {
	switch {
	case len(args) == 2 && strings.EqualFold(args[0], "LOAD"):
		if sha := nameOf(args[1]); m.load(p, sha, args[1]) {
			p.WriteBulk(sha)
		}
		return true
	case len(args) > 1 && strings.EqualFold(args[0], "EXISTS"):
		p.WriteLen(len(args) - 1)
		for _, sha := range args[1:] {
			n := 0
			if _, ok := m.scripts[strings.ToLower(sha)]; ok {
				n = 1
			}
			p.WriteInt(n)
		}
		return true
	case len(args) > 0 && strings.EqualFold(args[0], "FLUSH"):
		clear(m.scripts)
		m.untaught = nil
	}
	return false
}

// load compiles and keeps a script, or answers with the error.
func (m *Master) load(p *server.Peer, sha, source string) bool {
	e := takeEngine(m)
	defer e.giveBack()
	if _, err := e.compile(sha, source); err != nil {
		p.WriteError("ERR Error compiling script (new function): " + err.Error())
		return false
	}
	if _, known := m.scripts[sha]; !known {
		m.untaught = append(m.untaught, source)
	}
	m.scripts[sha] = source
	return true
}

// teach tells miniredis of the scripts that it is about to run, within MULTI. That
// takes long, and is seldom needed. The hook lets it pass.
func (m *Master) teach() {
	m.loading = true
	for _, source := range m.untaught {
		m.redis.Server().Dispatch(server.NewPeer(bufio.NewWriter(io.Discard)), []string{"SCRIPT", "LOAD", source})
	}
	m.loading, m.untaught = false, nil
}

// eval runs a script that was loaded; args begin with the number of keys.
func (m *Master) eval(p *server.Peer, sha string, args []string) {
	n, err := strconv.Atoi(args[0])
	switch {
	case err != nil:
		p.WriteError("ERR value is not an integer or out of range")
		return
	case n > len(args)-1:
		p.WriteError("ERR Number of keys can't be greater than number of args")
		return
	case n < 0:
		p.WriteError("ERR Number of keys can't be negative")
		return
	}
	keys, argv := args[1:1+n], args[1+n:]
	if m.answerNatively(p, sha, keys, argv) {
		return
	}
	m.wrote = false
	e := takeEngine(m)
	defer e.giveBack()
	e.run(p, sha, m.scripts[sha], keys, argv)
}

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// names remembers those of scripts: each master of each world loads the same few.
var names struct {
	mu  sync.Mutex
	sha map[string]string // by source
}

// nameOf is the SHA-1 of a source.
func nameOf(source string) string {
	names.mu.Lock()
	defer names.mu.Unlock()
	sha, ok := names.sha[source]
	if !ok {
		if names.sha == nil || len(names.sha) >= maxCompiled {
			names.sha = map[string]string{}
		}
		sha = sha1Hex(source)
		names.sha[source] = sha
	}
	return sha
}
