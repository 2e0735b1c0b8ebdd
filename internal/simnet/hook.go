package simnet

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// Intercept has f look at each command that arrives at m, before it is executed.
// If f returns true, the command is not executed, and the text is the answer: an
// error such as "LOADING Redis is loading the dataset in memory", with or without
// a leading "-", or any reply in protocol form, such as ":2" or "+OK". Commands
// that scripts issue are not seen. f may call any method of this package, and
// runs while no time passes: it must not wait. Nil ends it.
func (m *Master) Intercept(f func(host string, args []string) (reply string, ok bool)) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.intercept = f
}

// InterceptScript is Intercept for the commands that Lua scripts issue, which see
// the answer as redis.call or redis.pcall returns it. Here f must not call this
// package.
func (m *Master) InterceptScript(f func(args []string) (reply string, ok bool)) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.interceptScript = f
}

// RewriteInfo has f change what m answers to INFO, in scripts too, as hosted
// servers and proxies do. Nil ends it. f must not call this package.
func (m *Master) RewriteInfo(f func(info string) string) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.rewriteInfo = f
}

// answerInstead asks the interceptor, without the lock.
func (m *Master) answerInstead(ses *session, host string, args []string) bool {
	f := m.intercept
	if f == nil {
		return false
	}
	m.w.mu.Unlock()
	reply, ok := f(host, args)
	m.w.mu.Lock()
	if ses.conn.server != ses {
		return true
	}
	if ok {
		ses.peer.WriteRaw(rawReply(reply))
	}
	return ok
}

// rawReply puts an answer of an interceptor into protocol form.
func rawReply(s string) string {
	if s == "" || !strings.ContainsRune("-+:$*_#,%~>", rune(s[0])) {
		s = "-" + s
	}
	if !strings.HasSuffix(s, "\r\n") {
		s += "\r\n"
	}
	return s
}

// hook runs before each command that miniredis executes, those within scripts
// included, and reports whether it has answered.
func (m *Master) hook(p *server.Peer, cmd string, args ...string) bool {
	if cmd == "SELECT" && m.current != nil {
		m.current.elsewhere = true
	}
	if m.current == nil || m.current.peer != p {
		return m.hookScript(p, cmd, args)
	}
	return m.hookSession(m.current, cmd, args)
}

// hookScript is hook for a command without a session.
func (m *Master) hookScript(p *server.Peer, cmd string, args []string) bool {
	if m.interceptScript != nil && m.current != nil {
		if reply, ok := m.interceptScript(append([]string{cmd}, args...)); ok {
			p.WriteRaw(rawReply(reply))
			return true
		}
	}
	if m.refusal != Nothing && m.current != nil && m.refuseScript(p, cmd) {
		return true
	}
	switch cmd {
	case "INFO":
		p.WriteBulk(m.info(args))
	case "PUBLISH":
		m.publish(p, args)
	case "EVAL", "EVALSHA", "SCRIPT": // never from within a script
		return !m.loading && m.evalCommand(p, cmd, args)
	default:
		return false
	}
	return true
}

// hookSession is hook for a command of a client.
func (m *Master) hookSession(ses *session, cmd string, args []string) bool {
	p := ses.peer
	if ses.subscribed() && !p.Resp3 && !slices.Contains(whileSubscribed, cmd) {
		p.WriteError(fmt.Sprintf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE"+
			" / PING / QUIT / RESET are allowed in this context", strings.ToLower(cmd)))
		return true
	}
	if m.refuse(p, cmd, false) {
		return true
	}
	simulated := true
	switch cmd {
	case "INFO", "PUBLISH", "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "PUBSUB":
		simulated = !ses.multi
	case "BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "MONITOR":
		simulated = false
	case "XREAD", "XREADGROUP":
		simulated = !slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "BLOCK") })
	case "PING":
		if !ses.subscribed() || p.Resp3 {
			return false
		}
	case "WAIT":
		if !acknowledgeable(args) {
			return false // which says what is wrong
		}
		simulated = !ses.multi
	case "EXEC":
		return m.abort(ses)
	case "EVAL", "EVALSHA", "SCRIPT":
		return m.evalSession(ses, cmd, args)
	default:
		return false
	}
	if !simulated {
		p.WriteError("ERR simnet: " + cmd + " is not simulated here")
		ses.spoilt = ses.multi
		return true
	}
	return m.answer(ses, cmd, args)
}

// whileSubscribed are the commands that a subscribed connection may send.
var whileSubscribed = []string{"SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "PING", "QUIT"}

// answer executes what miniredis is not left to do.
func (m *Master) answer(ses *session, cmd string, args []string) bool {
	p := ses.peer
	switch cmd {
	case "INFO":
		p.WriteBulk(m.info(args))
	case "PUBLISH":
		m.publish(p, args)
	case "PING":
		p.WriteStrings([]string{"pong", strings.Join(args, " ")})
	case "SUBSCRIBE", "PSUBSCRIBE":
		if len(args) == 0 {
			p.WriteError("ERR wrong number of arguments for '" + strings.ToLower(cmd) + "' command")
			return true
		}
		m.subscribe(ses, cmd, args)
	case "UNSUBSCRIBE", "PUNSUBSCRIBE":
		m.leave(ses, cmd, args)
	case "PUBSUB":
		m.pubsub(p, args)
	case "WAIT":
		p.WriteInt(m.acks)
	default: // XREAD
		return false
	}
	return true
}

// abort answers EXEC after a command of the transaction was refused here, of
// which miniredis knows nothing.
func (m *Master) abort(ses *session) bool {
	if !ses.spoilt {
		return false
	}
	ses.spoilt = false
	nobody := server.NewPeer(bufio.NewWriter(io.Discard))
	nobody.Ctx = ses.peer.Ctx
	m.redis.Server().Dispatch(nobody, []string{"DISCARD"})
	ses.peer.WriteError("EXECABORT Transaction discarded because of previous errors.")
	return true
}

// info answers INFO. Unknown sections are empty, as in Redis.
func (m *Master) info(sections []string) string {
	b := make([]byte, 0, 512)
	for _, part := range []struct {
		name string
		text func([]byte) []byte
	}{{"server", m.infoServer}, {"replication", m.infoReplication}} {
		wanted := len(sections) == 0 || slices.ContainsFunc(sections, func(s string) bool {
			s = strings.ToLower(s)
			return s == part.name || s == "all" || s == "default" || s == "everything"
		})
		if !wanted {
			continue
		}
		if len(b) > 0 {
			b = append(b, "\r\n"...)
		}
		b = part.text(b)
	}
	if m.rewriteInfo != nil {
		return m.rewriteInfo(string(b))
	}
	return string(b)
}

func (m *Master) infoServer(b []byte) []byte {
	now := m.clock.at(time.Now())
	uptime := now.Unix() - m.since // of truncated seconds, as in Redis
	b = append(append(b, "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:"...), m.runID...)
	b = strconv.AppendInt(append(b, "\r\ntcp_port:6379\r\nserver_time_usec:"...), now.UnixMicro(), 10)
	b = strconv.AppendInt(append(b, "\r\nuptime_in_seconds:"...), uptime, 10)
	b = strconv.AppendInt(append(b, "\r\nuptime_in_days:"...), uptime/86400, 10)
	return append(b, "\r\n"...)
}

func (m *Master) infoReplication(b []byte) []byte {
	role := "master"
	if m.refusal == ReadOnly {
		role = "slave"
	}
	b = append(append(b, "# Replication\r\nrole:"...), role...)
	b = strconv.AppendInt(append(b, "\r\nconnected_slaves:"...), int64(m.acks), 10)
	b = append(append(b, "\r\nmaster_replid:"...), m.replID...)
	b = append(append(b, "\r\nmaster_replid2:"...), m.replID2...)
	return append(b, "\r\n"...)
}
