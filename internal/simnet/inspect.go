package simnet

import (
	"bufio"
	"bytes"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// A Command is one command that a master has executed for a client.
type Command struct {
	At     time.Time // right time, not the master's
	Host   string
	Master string
	Args   []string
	Reply  string // in protocol form, whether or not it reached the host
}

// OnCommand has f called after each command that a client has sent and a master
// has executed or answered, in order; commands within scripts do not count. f may
// call any method of this package. Nil ends it.
func (w *World) OnCommand(f func(Command)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onCommand = f
	if f == nil {
		w.traced = nil
	}
}

// count is what commands are counted by.
type count struct{ host, command string }

// Commands returns how many commands of that name (in any case of letters) host
// has had executed by m since the world began, pings and subscriptions included,
// those of scripts not. An empty host or command stands for any.
func (m *Master) Commands(host, command string) int {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	command = strings.ToUpper(command)
	n := 0
	for k, v := range m.counts {
		if (host == "" || k.host == host) && (command == "" || k.command == command) {
			n += v
		}
	}
	return n
}

// Bytes returns how many bytes have travelled from host to m and back.
func (m *Master) Bytes(host string) (requests, replies int64) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	l := m.w.link(m.w.host(host), m)
	return l.bytes[toMaster], l.bytes[toHost]
}

// Connections returns how many connections host has with m, as m sees it.
func (m *Master) Connections(host string) int {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	n := 0
	for _, c := range m.w.link(m.w.host(host), m).conns {
		if c.server != nil {
			n++
		}
	}
	return n
}

// NoExpiry is what PTTL returns for a key that never expires.
const NoExpiry time.Duration = -1

// PTTL returns how long key has left by m's clock, to the nanosecond; 0 if there
// is no such key and [NoExpiry] if it does not expire.
func (m *Master) PTTL(key string) time.Duration {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.tick()
	if !m.redis.Exists(key) {
		return 0
	}
	if d := m.redis.TTL(key); d > 0 {
		return d
	}
	return NoExpiry
}

// Get returns the string at key; false if there is none.
func (m *Master) Get(key string) (string, bool) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.tick()
	v, err := m.redis.Get(key)
	return v, err == nil
}

// HGetAll returns the fields of the hash at key; empty if there is none.
func (m *Master) HGetAll(key string) map[string]string {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.tick()
	fields := map[string]string{}
	names, err := m.redis.HKeys(key)
	if err != nil {
		return fields
	}
	for _, f := range names {
		fields[f] = m.redis.HGet(key, f)
	}
	return fields
}

// Keys returns all keys of database 0, sorted.
func (m *Master) Keys() []string {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.tick()
	return m.redis.Keys()
}

// Do executes a command on m directly, whatever state m is in: it does not travel
// and is not counted, traced or intercepted. Replies are string, int, []byte,
// []any or nil, and an error is one that Redis answered.
func (m *Master) Do(args ...string) (any, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return server.ParseReply(bufio.NewReader(bytes.NewReader(m.do(args...))))
}

// Serves is from when on m executes what it is asked, writes included: from now on, or
// from the end of a pause on. It is false where that is not known: m is down, hangs or
// refuses writes.
func (m *Master) Serves() (from time.Time, known bool) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return time.Unix(0, max(m.w.now(), m.paused)), m.up && !m.hung && m.refusal == Nothing
}
