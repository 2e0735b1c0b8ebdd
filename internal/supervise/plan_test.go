package supervise

import (
	"testing"
	"time"
)

func TestPlan(t *testing.T) {
	const ms = time.Millisecond
	usual := Timing{StepDown: 180 * ms, Grace: 500 * ms}
	at := func(d time.Duration) Instant { return Instant(0).Add(d) }
	for _, tt := range []struct {
		name      string
		timing    Timing
		change    func(*plan)
		ask, kill time.Duration
	}{
		{"a third of StepDown remains for the kernel", usual, nil, 820 * ms, 940 * ms},
		{"50 ms for a busy machine", Timing{StepDown: 120 * ms}, nil, 880 * ms, 950 * ms},
		{"but as much for the command", Timing{StepDown: 90 * ms}, nil, 910 * ms, 955 * ms},
		{"at least 10 ms of it", Timing{StepDown: 12 * ms}, nil, 988 * ms, 990 * ms},
		{"asked at the latest when killed", Timing{StepDown: 5 * ms}, nil, 990 * ms, 990 * ms},
		{"as said", Timing{StepDown: 90 * ms, Margin: 50 * ms}, nil, 910 * ms, 950 * ms},
		{"grace counts from the first question", usual, func(p *plan) { p.ask(at(100 * ms)); p.ask(at(300 * ms)) }, 600 * ms, 600 * ms},
		{"but never beyond the deadline", usual, func(p *plan) { p.ask(at(900 * ms)) }, 820 * ms, 940 * ms},
		{"no grace", Timing{StepDown: 90 * ms, Grace: -1}, func(p *plan) { p.ask(at(100 * ms)) }, 100 * ms, 100 * ms},
		{"an order", usual, func(p *plan) { p.ordered = at(50 * ms) }, 50 * ms, 50 * ms},
		{"a later deadline", usual, func(p *plan) { p.extend(at(2000 * ms)) }, 1820 * ms, 1940 * ms},
		{"it never goes back", usual, func(p *plan) { p.extend(at(500 * ms)) }, 820 * ms, 940 * ms},
	} {
		p := plan{Timing: tt.timing.withDefaults(), deadline: at(1000 * ms)}
		if tt.change != nil {
			tt.change(&p)
		}
		if p.askAt() != at(tt.ask) || p.killAt() != at(tt.kill) {
			t.Errorf("%s: asked at %s, killed at %s, want %s, %s", tt.name, p.askAt().Sub(0), p.killAt().Sub(0), tt.ask, tt.kill)
		}
		if want := map[bool]Instant{true: p.askAt(), false: p.killAt()}[p.asked == 0]; p.due() != want {
			t.Errorf("%s: due at %s, want %s", tt.name, p.due().Sub(0), want.Sub(0))
		}
	}
}
