package simnet

// What a segment carries.
type kind int

const (
	kindData  kind = iota
	kindOpen       // SYN and its answer
	kindEnd        // FIN
	kindReset      // RST
)

// A segment is what travels in one piece.
type segment struct {
	stream *stream
	kind   kind
	data   []byte
	key    uint64 // stands for the content when the delay is drawn
	at     int64  // when it arrives; 0 if not on its way
}

// A stream is one direction of a connection: what is sent arrives in order.
type stream struct {
	conn    *conn
	dir     direction
	last    int64      // when the latest segment arrives
	stalled bool       // nothing more is sent until the link is healed
	flight  []*segment // on its way
	held    []*segment // waits for the link to be healed
}

// send sends s, or holds it where nothing can pass. w.mu is held, as in all
// methods here.
func (st *stream) send(s *segment) {
	s.stream = st
	l := st.conn.link
	if st.conn.direct && st.dir == toHost {
		st.conn.arrive(s)
		return
	}
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
	s.at, st.last = at, at
	st.flight = append(st.flight, s)
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

// land handles the arrival of s that was planned for that instant.
func (s *segment) land(at int64) {
	st := s.stream
	if s.at != at {
		return // it was stopped on its way
	}
	c := st.conn
	if !c.link.passable(st.dir) {
		st.stop()
		return
	}
	s.at = 0
	if len(st.flight) == 1 {
		st.flight = st.flight[:0]
	} else {
		st.flight = st.flight[1:]
	}
	c.link.bytes[st.dir] += int64(len(s.data))
	if st.dir == toMaster {
		c.link.master.arrive(c, s)
	} else {
		c.arrive(s)
	}
}

// stop holds what is in flight, for what comes later must not overtake what was
// held first. Resets are lost.
func (st *stream) stop() {
	var stopped []*segment
	for _, s := range st.flight {
		s.at = 0
		if s.kind != kindReset {
			stopped = append(stopped, s)
		}
	}
	st.held = append(stopped, st.held...)
	st.flight = st.flight[:0]
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
