package simnet

import "time"

// direction of a segment.
type direction int

const (
	toMaster direction = iota
	toHost
)

// Residues that a link owns. Replies have several, so that two replies to one
// host seldom meet; what a subscriber receives is apart from those.
const (
	residueRequest  = 0
	residueDeadline = 1
	residueReply    = 2
	replyResidues   = 9
	residuePush     = residueReply + replyResidues
	pushResidues    = 3
	linkResidues    = residuePush + pushResidues
)

// A link joins a host and a master.
type link struct {
	w       *World
	host    *host
	master  *Master
	index   uint64 // order of creation
	key     uint64
	residue int64 // first of linkResidues
	latency Latency
	extra   time.Duration
	loss    float64
	cut     [2]bool // by direction
	conns   []*conn
	ports   int
	bytes   [2]int64

	failed   int64 // when a prompt dial last failed
	failures int   // in that instant
}

// link returns the link between h and m. w.mu is held.
func (w *World) link(h *host, m *Master) *link {
	l := h.links[m]
	if l == nil {
		l = &link{
			w:       w,
			host:    h,
			master:  m,
			index:   uint64(w.links),
			key:     mix(hashString(w.seed, h.name), hashString(0, m.name)),
			residue: w.residues(linkResidues),
			latency: w.opts.Latency,
			loss:    w.opts.Loss,
		}
		w.links++
		h.links[m] = l
		h.linkList = append(h.linkList, l)
	}
	return l
}

// passable reports whether segments get through in that direction.
func (l *link) passable(d direction) bool {
	return !l.cut[d] && !l.host.isolated
}

func (l *link) deadlineResidue() int64 {
	return (l.residue + residueDeadline) % l.w.modulus
}

// delay draws the time that a segment of that key travels when sent now. It is
// false if the segment is lost for good.
func (l *link) delay(d direction, key uint64) (time.Duration, bool) {
	h := mix(mix(mix(l.key, uint64(d)), uint64(l.w.now())), key)
	span := uint64(l.latency.Max - l.latency.Min + 1)
	t := l.latency.Min + time.Duration(h%span) + l.extra
	if l.loss == 0 {
		return t, true
	}
	for again := l.w.opts.Retransmit; ; again *= 2 {
		h = mix(h, 1)
		if unit(h) >= l.loss {
			return t, true
		}
		if again < 0 || again > time.Hour {
			return 0, false
		}
		t += again
	}
}

// forget drops a connection that both ends are done with.
func (l *link) forget(c *conn) {
	for i, other := range l.conns {
		if other == c {
			l.conns = append(l.conns[:i], l.conns[i+1:]...)
			return
		}
	}
}

// release sends on what was held back, as far as the link lets it pass.
func (l *link) release() {
	for _, c := range l.conns {
		for d := range c.streams {
			c.streams[d].release()
		}
	}
}
