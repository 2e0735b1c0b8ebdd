package simnet

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// A Master is a Redis primary: a real miniredis behind the simulated wire, with a
// clock, a life and moods of its own.
type Master struct {
	w     *World
	name  string
	addr  net.Addr
	order uint64
	redis *miniredis.Miniredis
	clock serverClock

	up      bool
	boots   int
	runID   string
	lines   int    // of replication that it has begun
	replID  string // of the latest
	replID2 string // of the line that it was promoted from; zeros if it was not
	since   int64  // seconds, by the clock, when it was started
	hung    bool
	paused  int64 // until when clients are; see Pause
	refusal Refusal
	acks    int        // what WAIT answers
	inbox   []*segment // arrived while it hung, or clients were paused

	current     *session // whose command is being executed; nil for Do
	currentKey  uint64
	subscribers []*conn
	scripts     map[string]string // sources by sha
	wrote       bool              // the script that runs has written
	untaught    []string          // sources of which miniredis has not been told
	loading     bool              // it is told of a script
	drops       []*drop
	counts      map[count]int

	intercept       func(host string, args []string) (string, bool)
	interceptScript func(args []string) (string, bool)
	rewriteInfo     func(info string) string
}

// A session is the master's end of a connection.
type session struct {
	conn      *conn
	in        []byte // not yet a whole command
	out       bytes.Buffer
	peer      *server.Peer
	multi     bool     // between MULTI and EXEC
	spoilt    bool     // EXEC will fail
	elsewhere bool     // it may be in another database than 0
	channels  []string // subscribed to, in order
	patterns  []string
}

// AddMaster adds a running, empty master. The name must be new; it appears in
// traces and seeds the run_id.
func (w *World) AddMaster(name string) *Master {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.masters {
		if m.name == name {
			panic(fmt.Sprintf("simnet: AddMaster: there is a master %q already", name))
		}
	}
	n := len(w.masters) + 1
	m := &Master{
		w:      w,
		name:   name,
		addr:   &net.TCPAddr{IP: net.IPv4(10, 0, byte(n>>8), byte(n)), Port: 6379},
		order:  1<<63 | uint64(n),
		redis:  newRedis(),
		counts: map[count]int{}, scripts: map[string]string{},
	}
	now := time.Now()
	m.clock = serverClock{real: now, shown: now}
	m.redis.SetTime(now)
	m.redis.ClockTTL(true)
	m.redis.Server().SetPreHook(m.hook)
	m.boot()
	m.since -= int64(w.opts.Uptime / time.Second)
	w.masters = append(w.masters, m)
	for _, h := range w.hostList {
		w.link(h, m)
	}
	return m
}

// newRedis returns a server without a listener. Only a dial starts one.
func newRedis() *miniredis.Miniredis {
	r := miniredis.NewMiniRedis()
	c, err := r.Dial()
	if err != nil {
		panic(fmt.Sprintf("simnet: miniredis: %v", err)) // it has nothing to fail at
	}
	c.Close()
	return r
}

// Name returns the name given to AddMaster.
func (m *Master) Name() string { return m.name }

// Addr returns host and port, for [World.Dialer].
func (m *Master) Addr() string { return m.addr.String() }

// RunID returns the run_id of the present, or last, life of m.
func (m *Master) RunID() string {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.runID
}

// boot starts a life. w.mu is held, as in all unexported methods.
func (m *Master) boot() {
	m.up = true
	m.boots++
	m.replID2 = noLine
	m.newLine()
	m.since = m.clock.at(time.Now()).Unix()
	m.runID = m.id(uint64(m.boots))
}

// id makes an identity of m as servers have them.
func (m *Master) id(n uint64) string {
	key := mix(hashString(m.w.seed, m.name), n)
	var id strings.Builder
	for i := range 3 {
		fmt.Fprintf(&id, "%016x", mix(key, uint64(i)))
	}
	return id.String()[:40]
}

// noLine is the second identity of a server that never was a replica.
const noLine = "0000000000000000000000000000000000000000"

// newLine begins a line of replication: what m has written since it became a
// primary.
func (m *Master) newLine() {
	m.lines++
	m.replID = m.id(1<<32 | uint64(m.lines))
}

// arrive handles a segment from a host.
func (m *Master) arrive(c *conn, s *segment) {
	switch {
	case !m.up, s.kind != kindOpen && c.server == nil, s.kind == kindOpen && c.link.host.reaches(c.dialed) != m:
		if s.kind != kindEnd {
			c.streams[toHost].send(&segment{kind: kindReset, key: mix(s.key, 1)})
			return
		}
		c.link.forget(c)
	case s.kind == kindOpen:
		if !c.closed {
			c.server = newSession(c)
			c.streams[toHost].send(&segment{kind: kindOpen, key: s.key})
		}
	case s.kind == kindEnd && !m.hung && m.stopped():
		m.giveUp(c)
		m.handle(c, s)
	case m.stopped() || len(m.inbox) > 0:
		m.inbox = append(m.inbox, s)
	default:
		m.handle(c, s)
	}
}

func newSession(c *conn) *session {
	s := &session{conn: c}
	s.peer = server.NewPeer(bufio.NewWriterSize(&s.out, 512))
	return s
}

// stopped reports whether m executes nothing now.
func (m *Master) stopped() bool { return m.hung || m.w.now() < m.paused }

// giveUp drops what arrived on a connection.
func (m *Master) giveUp(c *conn) {
	m.inbox = slices.DeleteFunc(m.inbox, func(s *segment) bool { return s.stream.conn == c })
}

// drain handles what arrived while m hung, or clients were paused.
func (m *Master) drain() {
	for len(m.inbox) > 0 && !m.stopped() {
		s := m.inbox[0]
		m.inbox = m.inbox[1:]
		if c := s.stream.conn; c.server != nil {
			m.handle(c, s)
		}
	}
}

// handle executes the commands of a segment, or lets go of the connection.
func (m *Master) handle(c *conn, s *segment) {
	if s.kind == kindEnd {
		m.hangUp(c)
		c.link.forget(c)
		return
	}
	ses := c.server
	ses.in = append(ses.in, s.data...)
	for c.server == ses {
		args, n, err := parseCommand(ses.in)
		if err != nil {
			m.reset(c)
			return
		}
		if n == 0 {
			break
		}
		ses.in = ses.in[n:]
		if len(args) > 0 {
			m.execute(ses, args, s.key)
		}
	}
	if len(ses.in) == 0 {
		ses.in = nil
	}
	if c.server == ses {
		ses.flush(s.key)
	}
}

// execute runs one command, as a server without anything else to do: at once.
func (m *Master) execute(ses *session, args []string, key uint64) {
	host, name := ses.conn.link.host.name, strings.ToUpper(args[0])
	m.counts[count{host, name}]++
	if m.answerInstead(ses, host, args) {
		if ses.conn.server != ses { // the interceptor crashed us
			return
		}
	} else {
		m.redis.SetTime(m.clock.at(time.Now()))
		m.current, m.currentKey = ses, key
		m.redis.Server().Dispatch(ses.peer, args)
		m.current, m.currentKey = nil, 0
		ses.track(name)
	}
	before := ses.out.Len()
	ses.peer.Flush()
	if m.w.onCommand != nil {
		m.w.traced = append(m.w.traced, Command{
			At: time.Now(), Host: host, Master: m.name, Args: args,
			Reply: string(ses.out.Bytes()[before:]),
		})
	}
	if how, ok := m.dropped(host, name); ok {
		m.lose(ses, before, key, how)
	} else if ses.peer.Closed() { // QUIT
		ses.flush(key)
		ses.conn.streams[toHost].send(&segment{kind: kindEnd, key: key})
		m.hangUp(ses.conn)
	}
}

// lose drops the reply that begins at before, or stops all from there on.
func (m *Master) lose(ses *session, before int, key uint64, how Loss) {
	reply := append([]byte(nil), ses.out.Bytes()[before:]...)
	ses.out.Truncate(before)
	ses.flush(key)
	if how == Reset {
		m.reset(ses.conn)
		return
	}
	ses.conn.streams[toHost].stalled = true
	ses.out.Write(reply)
}

// flush sends what was written to the session.
func (s *session) flush(key uint64) {
	s.peer.Flush()
	if s.out.Len() == 0 {
		return
	}
	data := append([]byte(nil), s.out.Bytes()...)
	s.out.Reset()
	s.conn.streams[toHost].send(&segment{kind: kindData, data: data, key: mix(key, uint64(len(data)))})
}

// track follows transactions.
func (s *session) track(command string) {
	switch command {
	case "MULTI":
		s.multi = true
	case "EXEC", "DISCARD":
		s.multi, s.spoilt = false, false
	}
}

// hangUp ends the master's side of a connection.
func (m *Master) hangUp(c *conn) {
	if c.server != nil {
		m.unsubscribe(c)
		c.server = nil
	}
}

// reset breaks a connection from the master's side, if it knows of it. The host
// hears of it only if the link lets that pass.
func (m *Master) reset(c *conn) {
	if c.server == nil {
		return
	}
	back := &c.streams[toHost]
	back.stalled, back.held = false, nil
	if !back.blocked() {
		back.send(&segment{kind: kindReset, key: hashString(0, "reset")})
	}
	m.hangUp(c)
}

// flushScripts forgets loaded scripts.
func (m *Master) flushScripts() {
	m.do("SCRIPT", "FLUSH")
}

// do executes a command that comes from nowhere, and returns the raw reply.
func (m *Master) do(args ...string) []byte {
	var out bytes.Buffer
	p := server.NewPeer(bufio.NewWriterSize(&out, 64))
	m.redis.SetTime(m.clock.at(time.Now()))
	m.redis.Server().Dispatch(p, args)
	p.Flush()
	return out.Bytes()
}
