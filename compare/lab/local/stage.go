package local

import (
	"context"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// The lab is a fault.Stage: it plays schedules.

var _ fault.Stage = (*Lab)(nil)

// scene is a fault that is being played.
type scene struct {
	ctx       context.Context
	fault     fault.Fault
	playing   fault.Fault // what Struck is about: the fault, or a step of it
	announced bool        // it has struck
	steps     []string    // of a schedule, that have struck
	load      history.Load

	leader   string // whom it is aimed at, with slot and token
	slot     int
	token    uint64
	mark     int           // the record's place before the fault
	at       time.Duration // when it struck last
	resigned bool          // somebody was asked to, and no time has passed since
	said     int           // how many lines the lab had said itself before
}

// lastN orders what the lab says, at one instant, after what a candidate said.
const lastN = 1 << 30

// say adds a line of the lab's own, stamped now if it has no time.
func (l *Lab) say(ev history.Event) {
	if ev.At == 0 {
		ev.At = monotonic()
	}
	l.said++
	ev.N = lastN + l.said
	l.rec.add(Line{Event: ev})
}

// TTL implements fault.Stage.
func (l *Lab) TTL() time.Duration { return l.opt.TTL }

// Elapsed implements fault.Stage: it is CLOCK_MONOTONIC, since only differences
// count.
func (l *Lab) Elapsed() time.Duration { return monotonic() }

// Begin implements fault.Stage.
func (l *Lab) Begin(f fault.Fault) {
	l.scene.playing, l.scene.announced = f, false
	ctx, cancel := l.brief()
	defer cancel()
	for _, p := range l.places {
		if err := l.replicate(ctx, p); err != nil {
			l.note(p.name, "gets no replica: "+err.Error())
		}
	}
	if err := l.keepLogs(ctx); err != nil {
		l.note("lab", "keeps no append-only files: "+err.Error())
	}
}

// Struck implements fault.StoreWorld.
func (l *Lab) Struck(master int) { l.strikes(l.places[master].name) }

// StruckLeader implements fault.Stage.
func (l *Lab) StruckLeader(candidate string) { l.strikes(candidate) }

// strikes records that the fault strikes somebody now. What is being given back
// counts as free.
func (l *Lab) strikes(actor string) {
	ev := history.Event{Actor: actor, Kind: history.Fault, Name: l.scene.playing.Name}
	if !l.scene.playing.Releases && !l.scene.resigned {
		expiry := l.presumed(l.scene.ctx, l.rec.leading().token)
		ev.At = monotonic()
		ev.Floor = max(0, expiry-ev.At)
	}
	l.say(ev)
	l.struck(monotonic())
	l.step()
}

// step notes the steps of a schedule, each once.
func (l *Lab) step() {
	s := l.scene
	if s.playing.Name != s.fault.Name && !s.announced {
		s.announced = true
		s.steps = append(s.steps, s.playing.Name)
	}
}

// Healed implements fault.Stage.
func (l *Lab) Healed(f fault.Fault) {
	l.say(history.Event{Actor: "lab", Kind: history.Healed, Name: f.Name})
}

// Note implements fault.Stage.
func (l *Lab) Note(text string) { l.note("lab", text) }
