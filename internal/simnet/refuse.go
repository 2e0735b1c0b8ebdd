package simnet

import (
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// A Refusal is why a master refuses commands that write.
type Refusal int

const (
	// Nothing is refused.
	Nothing Refusal = iota
	// OutOfMemory refuses what could need memory. A script is let through once it has
	// written: it could not be stopped half-way.
	OutOfMemory
	// NoReplicas refuses all writes, for want of min-replicas-to-write.
	NoReplicas
	// ReadOnly refuses all writes, as a replica does.
	ReadOnly
)

// Refusal returns what m refuses at present.
func (m *Master) Refusal() Refusal {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.refusal
}

// refusals are what a server answers then.
var refusals = map[Refusal]string{
	OutOfMemory: "OOM command not allowed when used memory > 'maxmemory'.",
	NoReplicas:  "NOREPLICAS Not enough good replicas to write.",
	ReadOnly:    "READONLY You can't write against a read only replica.",
}

// Refuse has m refuse writes from now on, those of scripts included, until it is called
// with Nothing or m is started again. Known as writes are the usual commands on strings,
// hashes and keys. Scripts run as Lua meanwhile. [Master.Do] is never refused.
func (m *Master) Refuse(why Refusal) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.refusal = why
}

// writes are commands that write, and whether they could need memory.
var writes = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields("SET SETEX PSETEX SETNX GETSET APPEND INCR INCRBY DECR HSET HMSET HSETNX HINCRBY") {
		set[name] = true
	}
	for _, name := range strings.Fields("DEL UNLINK GETDEL HDEL EXPIRE PEXPIRE EXPIREAT PEXPIREAT PERSIST FLUSHDB FLUSHALL") {
		set[name] = false
	}
	return set
}()

// refuseScript answers a command of a script that is refused.
func (m *Master) refuseScript(p *server.Peer, cmd string) bool {
	if m.refuse(p, cmd, m.wrote) {
		return true
	}
	if _, write := writes[cmd]; write {
		m.wrote = true
	}
	return false
}

// refuse answers a command that is refused. wrote says that its script has written.
func (m *Master) refuse(p *server.Peer, cmd string, wrote bool) bool {
	if m.refusal == Nothing {
		return false
	}
	grows, write := writes[cmd]
	if !write || m.refusal == OutOfMemory && (!grows || wrote) {
		return false
	}
	p.WriteError(refusals[m.refusal])
	return true
}
