package local

import (
	"testing"
	"time"

	"incumbent/compare/history"
)

// TestCurrent: of the terms that go on the one that started last is the current one,
// however long the others may last; one that ended or ran out is none.
func TestCurrent(t *testing.T) {
	now := monotonic()
	type term struct {
		start, left time.Duration
		ended       bool
	}
	for name, tt := range map[string]struct {
		terms []term // by token, from 1 on
		want  uint64
	}{
		"none":                      {nil, 0},
		"one":                       {[]term{{-2, 9, false}}, 1},
		"the later one ends sooner": {[]term{{-9, 9, false}, {-2, 5, false}}, 2},
		"told in another order":     {[]term{{-2, 5, false}, {-9, 9, false}}, 1},
		"the later one has ended":   {[]term{{-9, 9, false}, {-2, 5, true}}, 1},
		"the later one has run out": {[]term{{-9, 9, false}, {-2, -1, false}}, 1},
		"all have run out":          {[]term{{-9, -3, false}, {-4, -1, false}}, 0},
		"all have ended or run out": {[]term{{-9, -3, false}, {-4, 9, true}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder()
			for i, one := range tt.terms {
				token := uint64(i + 1)
				l := Line{Event: history.Event{Kind: history.TermStarted, Actor: "c1", Token: token, At: now + one.start*time.Minute}}
				l.Deadline = now + one.left*time.Minute
				r.add(l)
				if one.ended {
					r.add(Line{Event: history.Event{Kind: history.TermEnded, Actor: "c1", Token: token, At: now}})
				}
			}
			got, ok := r.current()
			if got.token != tt.want || ok != (tt.want != 0) {
				t.Errorf("term %d (%t), want %d", got.token, ok, tt.want)
			}
		})
	}
}
