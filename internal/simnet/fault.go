package simnet

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Cut makes the link between host and m a black hole in both directions: nothing
// is refused or reset, nothing arrives. What is in flight or sent meanwhile is
// held, connections that are being closed included, until [World.Heal].
func (w *World) Cut(host string, m *Master) {
	w.setCut(host, m, true, true)
}

// CutRequests loses what host sends to m, and lets answers pass.
func (w *World) CutRequests(host string, m *Master) {
	w.setCut(host, m, true, false)
}

// CutReplies loses what m sends to host: commands are executed, unanswered.
func (w *World) CutReplies(host string, m *Master) {
	w.setCut(host, m, false, true)
}

// Heal undoes the cuts of the link between host and m, and sends on what was held
// by them, by losses without retransmission and by [Stall].
func (w *World) Heal(host string, m *Master) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.link(w.host(host), m)
	l.cut = [2]bool{}
	for _, c := range l.conns {
		for d := range c.streams {
			c.streams[d].stalled = false
		}
	}
	l.release()
}

func (w *World) setCut(host string, m *Master, requests, replies bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.link(w.host(host), m)
	l.cut[toMaster] = l.cut[toMaster] || requests
	l.cut[toHost] = l.cut[toHost] || replies
}

// Isolate cuts host off from all masters until [World.Rejoin], which leaves cuts
// of single links as they are.
func (w *World) Isolate(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.host(host).isolated = true
}

// Rejoin undoes [World.Isolate] and sends on what was held.
func (w *World) Rejoin(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.host(host)
	h.isolated = false
	for _, l := range h.linkList {
		l.release()
	}
}

// Slow adds extra to each direction of the link between host and m; zero takes it
// away. Extra must not be negative.
func (w *World) Slow(host string, m *Master, extra time.Duration) {
	if extra < 0 {
		panic(fmt.Sprintf("simnet: Slow by %v: must not be negative", extra))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.link(w.host(host), m).extra = extra
}

// SetLatency replaces the delay of the link between host and m. It panics when
// l.Min is not above zero or above l.Max.
func (w *World) SetLatency(host string, m *Master, l Latency) {
	if err := l.check(); err != nil {
		panic(fmt.Sprintf("simnet: SetLatency: %v", err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.link(w.host(host), m).latency = l
}

// SetLoss replaces [Options.Loss] on the link between host and m. It panics when
// the share is below 0, or not below 1.
func (w *World) SetLoss(host string, m *Master, share float64) {
	if !(share >= 0 && share < 1) {
		panic(fmt.Sprintf("simnet: SetLoss(%v): must be at least 0 and below 1", share))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.link(w.host(host), m).loss = share
}

// Disconnect resets all connections between host and m, both of which live on.
func (w *World) Disconnect(host string, m *Master) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.link(w.host(host), m).conns {
		m.reset(c)
	}
}

// Hang stops m as SIGSTOP would: its kernel still accepts connections and data,
// and it executes nothing until [Master.Resume].
func (m *Master) Hang() {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.hung = true
}

// Resume lets m go on; it first executes, in order of arrival, all that had come
// in the meantime, also from clients that have given up.
func (m *Master) Resume() {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if m.hung {
		m.hung = false
		m.w.schedule(event{at: m.w.now(), order: m.order, inbox: m})
	}
}

// Pause has m execute nothing for that long, as CLIENT PAUSE does: connections are
// accepted, and in the end, in order of arrival, is executed what came on those that are
// still open. What a client sent that has given up by then is not.
func (m *Master) Pause(d time.Duration) {
	source := m.w.Source(m.name + "/pause")
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.paused = source.Align(time.Now().Add(d)).UnixNano()
	m.w.schedule(event{at: m.paused, order: m.order, inbox: m})
}

// Crash ends m's process: connections are reset and dials refused until
// [Master.Restart]. Its data are kept on disk.
func (m *Master) Crash() {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.crash()
}

// Restart starts m again, with a new run_id and an uptime of zero, crashing it
// first if need be. Loaded scripts are lost in any case, and data if wipe is set;
// otherwise keys whose time is up meanwhile are gone.
func (m *Master) Restart(wipe bool) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.crash()
	if wipe {
		m.redis.FlushAll()
	}
	m.flushScripts()
	m.boot()
}

func (m *Master) crash() {
	for _, h := range m.w.hostList {
		l := h.links[m]
		if l == nil {
			continue
		}
		for _, c := range l.conns {
			m.reset(c)
		}
	}
	m.up, m.hung, m.paused, m.refusal, m.inbox = false, false, 0, Nothing, nil
}

// FlushAll removes all keys, as the command would.
func (m *Master) FlushAll() {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.redis.FlushAll()
}

// Evict removes key, as maxmemory or a careless operator would, and reports
// whether it was there.
func (m *Master) Evict(key string) bool {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.tick()
	return m.redis.Del(key)
}

// ScriptFlush forgets all loaded scripts, so that EVALSHA fails with NOSCRIPT.
func (m *Master) ScriptFlush() {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.flushScripts()
}

// Loss says what becomes of a connection whose reply is lost.
type Loss int

const (
	Reset Loss = iota // the connection is reset; the reply is gone
	Stall             // nothing comes back any more until World.Heal
)

// DropReply loses one reply to host: that of the nth command called command (in
// any case of letters; "" means any but HELLO, AUTH, SELECT and CLIENT) that
// arrives from now on, nth being 1 for the next. The command is executed.
func (m *Master) DropReply(host, command string, nth int, how Loss) {
	if nth < 1 {
		panic(fmt.Sprintf("simnet: DropReply of command %d: must be at least 1", nth))
	}
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.drops = append(m.drops, &drop{host: host, command: strings.ToUpper(command), left: nth, how: how})
}

// KeepReplies undoes each [Master.DropReply] of replies to host that has not had its
// turn yet.
func (m *Master) KeepReplies(host string) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.drops = slices.DeleteFunc(m.drops, func(d *drop) bool { return d.host == host })
}

type drop struct {
	host, command string
	left          int
	how           Loss
}

// dropped counts down and reports whether this reply is to be lost.
func (m *Master) dropped(host, command string) (Loss, bool) {
	for i, d := range m.drops {
		if d.host != host || (d.command != command && (d.command != "" || setsUp(command))) {
			continue
		}
		if d.left--; d.left == 0 {
			m.drops = append(m.drops[:i:i], m.drops[i+1:]...)
			return d.how, true
		}
	}
	return 0, false
}
