package virtual

import (
	"fmt"
	"strconv"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// The lab is a fault.Stage: it plays schedules.

var _ fault.Stage = (*lab)(nil)

// TTL implements fault.Stage.
func (l *lab) TTL() time.Duration { return l.spec.TTL }

// Elapsed implements fault.Stage.
func (l *lab) Elapsed() time.Duration { return time.Since(l.rec.begin) }

// Begin implements fault.Stage.
func (l *lab) Begin(f fault.Fault) {
	l.playing, l.announced = f, false
	for _, p := range l.places {
		p.primary.SetAcks(l.fault.Acks)
	}
}

// StruckLeader implements fault.Stage.
func (l *lab) StruckLeader(candidate string) { l.strikes(candidate) }

// Healed implements fault.Stage.
func (l *lab) Healed(f fault.Fault) {
	l.rec.add(history.Event{Actor: "lab", Kind: history.Healed, Name: f.Name})
}

// Note implements fault.Stage.
func (l *lab) Note(text string) {
	l.rec.add(history.Event{Actor: "lab", Kind: history.Note, Name: text})
}

// step notes the steps of a schedule, each once.
func (l *lab) step() {
	if l.playing.Name == l.fault.Name || l.announced {
		return
	}
	l.announced = true
	l.steps = append(l.steps, l.playing.Name)
}

// remark notes in the history that something happens to a candidate, or is over.
func (l *lab) remark(candidate string, happens bool, text, over string) error {
	if !happens {
		text = over
	}
	l.rec.add(history.Event{Actor: candidate, Kind: history.Note, Name: text})
	return nil
}

func percent(share float64) string {
	return fmt.Sprintf("%s %%", strconv.FormatFloat(100*share, 'f', 0, 64))
}
