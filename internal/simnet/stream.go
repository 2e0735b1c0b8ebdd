package simnet

// What a segment carries.
type kind int

const (
	kindData kind = iota
	kindOpen      // SYN and its answer
	kindEnd       // FIN
	kindReset     // RST
)

// A segment is what travels in one piece.
type segment struct {
	stream *stream
	kind   kind
	data   []byte
	key    uint64 // stands for the content when the delay is drawn
}

// A stream is one direction of a connection: what is sent arrives in order.
type stream struct {
	conn    *conn
	dir     direction
	last    int64      // when the latest segment arrives
	stalled bool       // nothing gets through until the link is healed
	held    []*segment // waits for the link to be healed
}

// send sends s, or holds it where nothing can pass. w.mu is held, as in all
// methods here.
func (st *stream) send(s *segment) {
	s.stream = st
	l := st.conn.link
	frozen := st.dir == toMaster && l.host.frozen
	if st.blocked() || frozen {
		st.held = append(st.held, s)
		return
	}
	st.launch(s)
}

// blocked reports whether a segment has to wait.
func (st *stream) blocked() bool {
	return st.stalled || len(st.held) > 0 || !st.conn.link.passable(st.dir)
}

// launch puts s on the wire.
func (st *stream) launch(s *segment) {
	l := st.conn.link
	d, ok := l.delay(st.dir, s.key)
	if !ok {
		st.stalled = true
		st.held = append(st.held, s)
		return
	}
	at := alignUp(l.w.now()+int64(d), st.residue(s.key), l.w.modulus)
	if at <= st.last {
		at = alignUp(st.last+1, at%l.w.modulus, l.w.modulus)
	}
	st.last = at
	l.w.schedule(event{at: at, order: l.index<<1 | uint64(st.dir), seg: s})
}

// residue picks one that the link owns for this kind of traffic.
func (st *stream) residue(key uint64) int64 {
	l, spread := st.conn.link, mix(key, 2)
	switch {
	case st.dir == toMaster:
		return (l.residue + residueRequest) % l.w.modulus
	case st.conn.subscriber():
		return (l.residue + residuePush + int64(spread%pushResidues)) % l.w.modulus
	default:
		return (l.residue + residueReply + int64(spread%replyResidues)) % l.w.modulus
	}
}

// land handles the arrival of s.
func (s *segment) land() {
	st := s.stream
	c := st.conn
	if st.blocked() {
		if s.kind != kindReset {
			st.held = append(st.held, s)
		}
		return
	}
	c.link.bytes[st.dir] += int64(len(s.data))
	if st.dir == toMaster {
		c.link.master.arrive(c, s)
	} else {
		c.arrive(s)
	}
}

// release sends on what was held.
func (st *stream) release() {
	l := st.conn.link
	if st.stalled || !l.passable(st.dir) || (st.dir == toMaster && l.host.frozen) {
		return
	}
	held := st.held
	st.held = nil
	for i, s := range held {
		if st.stalled { // lost once more
			st.held = append(st.held, held[i:]...)
			return
		}
		st.launch(s)
	}
}
