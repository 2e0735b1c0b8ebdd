package virtual

import (
	"slices"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
)

// moves lists when masters went down and served again, in TTLs since begin.
func (l *lab) moves(begin time.Time) (list []move) {
	l.lookAround()
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	for _, ev := range l.rec.events {
		if ev.Kind == history.MasterDown || ev.Kind == history.MasterUp {
			at := float64(ev.At-l.rec.since(begin)) / float64(l.spec.TTL)
			list = append(list, move{ev.Kind == history.MasterUp, float64(int(10*at+0.5)) / 10})
		}
	}
	return list
}

type move struct {
	up bool
	at float64
}

// TestOutage: a master goes down once, and serves again when nothing keeps it from that
// any more.
func TestOutage(t *testing.T) {
	down, up := func(at float64) move { return move{false, at} }, func(at float64) move { return move{true, at} }
	pass := func(ttls float64) func(*lab) error { return func(l *lab) error { l.Pass(ttls); return nil } }
	hang := func(l *lab) error { return l.Hang(0) }
	resume := func(l *lab) error { return l.Resume(0) }
	pause := func(l *lab) error { return l.PauseClients(0, 0.5) }
	refuse := func(l *lab) error { return l.Refuse(0, fault.NoReplicas) }
	accept := func(l *lab) error { return l.Accept(0) }
	restart := func(l *lab) error { return l.Restart(0, fault.AllData) }
	for _, tt := range []struct {
		name string
		do   []func(*lab) error
		want []move
	}{
		{"flush", []func(*lab) error{func(l *lab) error { return l.Flush(0) }}, nil},
		{"hang", []func(*lab) error{hang, pass(0.3), resume}, []move{down(0), up(0.3)}},
		{"pause", []func(*lab) error{pause, pass(0.8)}, []move{down(0), up(0.5)}},
		{"pause, seen late", []func(*lab) error{pause, pass(0.8), hang, pass(0.2), resume}, []move{down(0), up(0.5), down(0.8), up(1)}},
		{"a pause that goes on", []func(*lab) error{pause, pass(0.2)}, []move{down(0)}},
		{"refuse", []func(*lab) error{refuse, pass(0.4), accept}, []move{down(0), up(0.4)}},
		{"paused, and hangs for longer", []func(*lab) error{pause, hang, pass(0.8), resume}, []move{down(0), up(0.8)}},
		{"hangs, and paused for longer", []func(*lab) error{hang, pause, pass(0.2), resume, pass(0.8)}, []move{down(0), up(0.5)}},
		{"restart", []func(*lab) error{restart}, []move{down(0), up(0)}},
		{"a restart ends a pause", []func(*lab) error{pause, pass(0.2), restart}, []move{down(0), up(0.2)}},
		{"dead", []func(*lab) error{func(l *lab) error { return l.Stop(0) }, pass(1)}, []move{down(0)}},
		{"another one takes its place", []func(*lab) error{
			func(l *lab) error { return l.Snapshot(0) }, hang, pass(0.3), func(l *lab) error { return l.Promote(0, "") },
		}, []move{down(0), up(0.3)}},
	} {
		inSingle(t, func(t *testing.T, l *lab, _ *place) {
			begin := time.Now()
			for _, do := range tt.do {
				if err := do(l); err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
			}
			if got := l.moves(begin); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}
